"""Slow disk work, done by another thread than the one that uses the logs."""

import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress

from brokerd.log.io.files import sync_path


class DiskJob(ABC):
    """Slow disk work: `run` may be called in any thread, `finish` then where logs are used, also
    after `run` raised. `error` is an error of the disk, which `finish` reports."""

    error: OSError | None = None
    is_done = False

    def run(self) -> None:
        try:
            self.work()
            self.is_done = True
        except OSError as error:
            self.error = error

    @abstractmethod
    def work(self) -> None:
        """The slow part. Raises OSError."""

    @abstractmethod
    def finish(self) -> None:
        """Handles the result."""


def run_now(job: DiskJob) -> None:
    """Runs a job at once: for use without an event loop."""
    try:
        job.run()
    finally:
        job.finish()


class SyncJob(DiskJob):
    """Syncs a file or directory; a missing one is no error. `done` gets the error or None."""

    def __init__(self, path: str, done: Callable[[OSError | None], object]) -> None:
        self._path = path
        self._done = done
        self.has_begun = False

    def work(self) -> None:
        self.has_begun = True
        with suppress(FileNotFoundError):
            sync_path(self._path)

    def finish(self) -> None:
        self._done(self.error)


class RemoveJob(DiskJob):
    """Removes files and directories; a missing one is no error. `done` is called in the thread that
    uses the logs, with the first error or None."""

    def __init__(self, paths: list[str], done: Callable[[OSError | None], object]) -> None:
        self._paths = paths
        self._done = done

    def work(self) -> None:
        for path in self._paths:
            try:
                _remove(path)
            except FileNotFoundError:
                continue
            except OSError as error:
                self.error = self.error or error

    def finish(self) -> None:
        self._done(self.error)


def _remove(path: str) -> None:
    if os.path.isdir(path):
        shutil.rmtree(path)
    else:
        os.unlink(path)
