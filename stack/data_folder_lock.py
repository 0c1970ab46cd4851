"""One supervisor per data folder, and what `down` needs to know about it.

`<data>/stack.lock` is held with flock as long as the supervisor lives (the system lets go of it
when it dies, however that happens). `<data>/stack.json` says which processes belong to it:

    {"stack_id": "…", "pid": 1, "started": 1.0, "url": "http://…", "ready": false,
     "processes": {"web": {"pid": 2, "started": 1.0}}}

`started` is each process's start time, which tells a reused process id apart.
"""

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from stack.plan import STORES_STAGE
from stack.sessions import start_time


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
        """Replace the file at once, so that no reader sees half of it."""
        temporary = data / "stack.json.new"
        temporary.write_text(json.dumps(asdict(self), indent=1))
        os.replace(temporary, data / "stack.json")

    def leaders(self) -> list[int]:
        """Ids of its processes that are the same as when they were noted."""
        return [int(noted["pid"]) for noted in self._unchanged()]

    def stores(self) -> list[int]:
        """Those of them that stop last."""
        noted = self._unchanged()
        return [int(each["pid"]) for each in noted if each.get("stage") == STORES_STAGE]

    def _unchanged(self) -> list[dict[str, float]]:
        processes = self.processes.values()
        return [each for each in processes if start_time(int(each["pid"])) == each["started"]]


def load(data: Path) -> StackFile | None:
    """The noted stack; None where there is none or the file cannot be read."""
    try:
        return StackFile(**json.loads((data / "stack.json").read_text()))
    except (OSError, ValueError, TypeError):
        return None


def forget(data: Path) -> None:
    """Drop the note: its stack is gone."""
    (data / "stack.json").unlink(missing_ok=True)


@contextlib.contextmanager
def held(data: Path) -> Iterator[None]:
    """Hold the folder's lock; raises AlreadyRunning when another process does."""
    descriptor = os.open(data / "stack.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AlreadyRunning(f"Aerie is already running on {data}") from None
        yield
    finally:
        os.close(descriptor)
