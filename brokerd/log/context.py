"""What all logs of a broker share: open files, slow disk work, things to delete later, events."""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from brokerd.errors import ErrorCode, KafkaError
from brokerd.log.open_files import OpenFiles

Detail = dict[str, object]
EventSink = Callable[[str, Detail], None]


class DiskJob(Protocol):
    """Slow disk work: `run` may be called in any thread, `finish` then where logs are used.

    `finish` is called also after `run` raised.
    """

    def run(self) -> None: ...

    def finish(self) -> None: ...


def run_now(job: DiskJob) -> None:
    """Do a job on the spot: what is used where there is no event loop to keep free."""
    try:
        job.run()
    finally:
        job.finish()


def no_event(kind: str, detail: Detail) -> None:
    """An event sink for who does not listen."""


def storage_error(error: OSError) -> KafkaError:
    """What a client is told when the disk refused."""
    return KafkaError(
        ErrorCode.KAFKA_STORAGE_ERROR, f"{error.filename or 'the log'}: {error.strerror or error}"
    )


class Trash:
    """Files and directories that were renamed away and wait for their end."""

    __slots__ = ("_due",)

    def __init__(self) -> None:
        self._due: list[tuple[int, str]] = []

    def __len__(self) -> int:
        return len(self._due)

    def add(self, path: str, due_ms: int) -> None:
        self._due.append((due_ms, path))

    def take_due(self, now_ms: int) -> list[str]:
        """The paths whose time has come; they are the caller's to remove."""
        due = [path for at_ms, path in self._due if at_ms <= now_ms]
        if due:
            self._due = [item for item in self._due if item[0] > now_ms]
        return due


@dataclass(frozen=True, slots=True)
class RemoveJob:
    """Remove files and directories; one that is gone already is no error."""

    paths: list[str]

    def run(self) -> None:
        for path in self.paths:
            if os.path.isdir(path):
                shutil.rmtree(path, ignore_errors=True)
            else:
                try:
                    os.unlink(path)
                except FileNotFoundError:
                    pass

    def finish(self) -> None:
        """Nothing in memory follows from it."""


@dataclass(frozen=True, slots=True)
class LogContext:
    """`submit` runs a DiskJob: in the order given, one at a time."""

    files: OpenFiles = field(default_factory=OpenFiles)
    trash: Trash = field(default_factory=Trash)
    submit: Callable[[DiskJob], None] = run_now
    on_event: EventSink = no_event
