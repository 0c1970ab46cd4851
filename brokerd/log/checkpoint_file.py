"""One checkpoint of a log directory: of which logs it may say something, now or soon.

An entry is known by topic and partition alone, and the files are written by and by. So before a log
is made under a name that one of them may still have of a deleted topic's, `forget` takes away what
is said of that one: else, after a kill, the new log would begin where the old one began, and
acknowledged records would be gone. (Kafka writes the files anew whenever a log is deleted.)
"""

import os
from collections.abc import Callable, Mapping
from threading import Lock

from brokerd.errors import KafkaError
from brokerd.log.checkpoint_job import CheckpointJob, Done
from brokerd.log.checkpoints import Key, Offsets, read_offsets, say_nothing_of


class CheckpointFile:
    """See the module. `latest` is what the file says when all that was submitted is done; None
    where that is not known."""

    __slots__ = ("_jobs", "_lock", "_on_disk", "latest", "path")

    def __init__(self, path: str) -> None:
        self.path = path
        self.latest: Offsets | None = None
        self._on_disk: Offsets | None = None
        self._jobs: list[CheckpointJob] = []
        self._lock = Lock()  # held while a file takes the place of another

    def read(self) -> Mapping[Key, int]:
        """What it says. Raises KafkaError where it does not hold together: then it says nothing."""
        self._on_disk = {}
        self._on_disk = read_offsets(self.path)
        return self._on_disk

    def job(self, offsets: Offsets, done: Done) -> CheckpointJob:
        """What writes these offsets, which must not change any more; to be submitted at once."""

        def finish(error: OSError | None) -> None:
            self._jobs.remove(job)
            if error is None:
                self._on_disk = offsets
            else:  # the old one may be there or the new one
                self._on_disk = {**(self._on_disk or {}), **offsets}
                self.latest = None
            done(error)

        job = CheckpointJob(self.path, offsets, finish, self._lock)
        self._jobs.append(job)
        self.latest = offsets
        return job

    def may_name(self, key: Key) -> bool:
        """Whether it says something of a log, or will when what was submitted is done."""
        return any(key in offsets for offsets in self._all())

    def _all(self) -> list[Offsets]:
        if self._on_disk is None:
            try:
                self.read()
            except KafkaError:  # it counts for nothing, whoever reads it
                self._on_disk = {}
        return [self._on_disk or {}, *(job.offsets for job in self._jobs)]

    def forget(self, is_gone: Callable[[Key], bool]) -> None:
        """Say nothing of the logs that are gone, at once; durable when the file is synced. Raises
        OSError."""
        gone = {key for offsets in self._all() for key in offsets if is_gone(key)}
        with self._lock:
            for job in self._jobs:
                job.gone |= gone
            say_nothing_of(gone, self.path)
        self._on_disk = {key: at for key, at in (self._on_disk or {}).items() if key not in gone}
        self.latest = None


class SyncJob:
    """Make what `forget` did durable. `failed` is told, where logs are used, if that cannot be."""

    __slots__ = ("_error", "_failed", "_path")

    def __init__(self, path: str, failed: Callable[[OSError], object]) -> None:
        self._path = path
        self._failed = failed
        self._error: OSError | None = None

    def run(self) -> None:
        try:
            fd = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fsync(fd)
            finally:
                os.close(fd)
        except FileNotFoundError:
            pass
        except OSError as error:
            error.filename = error.filename or self._path
            self._error = error

    def finish(self) -> None:
        if self._error is not None:
            self._failed(self._error)
