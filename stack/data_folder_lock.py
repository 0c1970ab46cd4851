"""The lock that allows one supervisor per data folder, and the file that describes its stack.

The supervisor holds an flock on `<data>/stack.lock`; the kernel releases it when the supervisor
ends, even after SIGKILL. `<data>/stack.json` lists the stack's processes, for `manage.py down`:

    {"stack_id": "…", "pid": 1, "started": 1.0, "url": "http://…", "ready": false,
     "processes": {"web": {"pid": 2, "started": 1.0, "stage": 2}}}

`started` is the process's start time. It detects a process id that was reused. `stage` is that of
its role (process_table.py).
"""

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from stack.os_processes import start_time
from stack.process_table import STORES_STAGE


class AlreadyRunning(Exception):
    """Another supervisor holds the lock of this data folder."""


@dataclass(slots=True)
class StackFile:
    """The content of stack.json."""

    stack_id: str
    pid: int
    started: float
    url: str
    ready: bool = False
    processes: dict[str, dict[str, float]] = field(default_factory=dict)

    def save(self, data: Path) -> None:
        """Replace the file atomically: no reader sees half of it."""
        temporary = data / "stack.json.new"
        temporary.write_text(json.dumps(asdict(self), indent=1))
        os.replace(temporary, data / "stack.json")

    def leaders(self) -> list[int]:
        """Process ids of the listed session leaders that still run (same id and start time)."""
        return [int(each["pid"]) for each in self._running()]

    def stores(self) -> list[int]:
        """Those of `leaders` that are ZooKeeper or Redis, which stop last."""
        return [int(each["pid"]) for each in self._running() if each.get("stage") == STORES_STAGE]

    def _running(self) -> list[dict[str, float]]:
        processes = self.processes.values()
        return [each for each in processes if start_time(int(each["pid"])) == each["started"]]


def load_stack_file(data: Path) -> StackFile | None:
    """The content of stack.json; None if it is missing or cannot be read."""
    try:
        return StackFile(**json.loads((data / "stack.json").read_text()))
    except (OSError, ValueError, TypeError):
        return None


def remove_stack_file(data: Path) -> None:
    """Delete stack.json, when the stack has stopped."""
    (data / "stack.json").unlink(missing_ok=True)


@contextlib.contextmanager
def acquire(data: Path) -> Iterator[None]:
    """Hold the folder's lock; raises AlreadyRunning if another process holds it."""
    descriptor = os.open(data / "stack.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AlreadyRunning(f"Aerie is already running on {data}") from None
        yield
    finally:
        os.close(descriptor)
