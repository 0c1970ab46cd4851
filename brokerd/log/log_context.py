"""What all logs of a broker share: open files, slow disk work, files to delete later, events."""

import errno
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from heapq import heappop, heappush
from typing import Any, Final, TypeVar, cast

from brokerd.errors import ErrorCode, KafkaError
from brokerd.log.io.disk_jobs import DiskJob, run_now
from brokerd.log.io.open_files import OpenFiles

Detail = dict[str, object]
EventSink = Callable[[str, Detail], None]

TRANSIENT_ERRNOS: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EINTR})
"""Errors that say nothing of a disk: the process (or the machine) has run out of something else."""


def no_event(kind: str, detail: Detail) -> None:
    """An event sink that ignores events."""


def no_failure(error: OSError) -> None:
    """Ignores errors of the disk."""


def storage_error(error: OSError) -> KafkaError:
    return KafkaError(
        ErrorCode.KAFKA_STORAGE_ERROR, f"{error.filename or 'the log'}: {error.strerror or error}"
    )


class Trash:
    """Files and directories that were renamed and wait to be removed."""

    def __init__(self) -> None:
        self._due: list[tuple[int, str]] = []  # a heap

    def __len__(self) -> int:
        return len(self._due)

    def add(self, path: str, due_ms: int) -> None:
        """Keeps a path until `due_ms` (milliseconds since 1970)."""
        heappush(self._due, (due_ms, path))

    def is_due(self, now_ms: int) -> bool:
        return bool(self._due) and self._due[0][0] <= now_ms

    def take_due(self, now_ms: int, most: int) -> list[str]:
        """Takes up to so many paths whose time has come, for the caller to remove."""
        due: list[str] = []
        while len(due) < most and self.is_due(now_ms):
            due.append(heappop(self._due)[1])
        return due


@dataclass(frozen=True, slots=True)
class LogContext:
    """What a log needs from its broker. `submit` runs DiskJobs one at a time, in the order given.
    `on_failure` is called for each error of the disk of the logs, `on_truncated` when the recovery
    point of a log decreased; neither may change a log."""

    files: OpenFiles = field(default_factory=OpenFiles)
    trash: Trash = field(default_factory=Trash)
    submit: Callable[[DiskJob], None] = run_now
    on_event: EventSink = no_event
    on_failure: Callable[[OSError], object] = no_failure
    on_truncated: Callable[[], object] = lambda: None

    def failed(self, error: OSError) -> KafkaError:
        """The error for a client. `on_failure` gets the disk's error, unless it is transient."""
        if error.errno not in TRANSIENT_ERRNOS:
            self.on_failure(error)
        return storage_error(error)


F = TypeVar("F", bound=Callable[..., Any])


def raises_storage_error(method: F) -> F:
    """Decorator of methods of a log, and of functions that get one: turns OSError into
    KAFKA_STORAGE_ERROR."""

    @wraps(method)
    def wrapper(log: Any, /, *args: Any, **kwargs: Any) -> Any:
        try:
            return method(log, *args, **kwargs)
        except OSError as error:
            raise log.failed(error) from error

    return cast("F", wrapper)
