"""One checkpoint of a log directory: written by the disk thread.

The files are written later than logs are deleted. So before a log is created whose name an entry of
a deleted log may have, `forget` clears that entry: else, after a kill, the new log would begin at
the old offset, and lose records. (Kafka writes the files anew whenever a log is deleted.)
"""

import errno
import os
import time
from collections.abc import Callable, Set
from itertools import islice
from threading import Lock
from typing import Final

from brokerd.log.checkpoint_file import Offsets, offset_entries, write_entries, zero_offsets
from brokerd.log.io.disk_jobs import DiskJob, SyncJob
from brokerd.topic_partition import TopicPartition

PIECE: Final = 1_000
PAUSE_S: Final = 0.0002

Done = Callable[[OSError | None], object]
"""Is called in the thread that uses the logs: with None when it is on disk, or with the error."""


class OffsetCheckpointFile:
    """`latest` are the entries of the file once all submitted jobs are done; None if not known."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.latest: Offsets | None = None
        self._jobs: list[CheckpointJob] = []
        self._sync: SyncJob | None = None
        self._lock = Lock()  # held while a file takes the place of another

    def job(self, offsets: Offsets, done: Done) -> "CheckpointJob":
        """The job that writes these offsets, which must not change; to be submitted at once."""

        def finish(error: OSError | None) -> None:
            self._jobs.remove(job)
            if error is not None:  # the old one may be there or the new one
                self.latest = None
            done(error)

        job = CheckpointJob(self.path, offsets, finish, self._lock)
        self._jobs.append(job)
        self.latest = offsets
        return job

    def forget(self, gone: Set[TopicPartition]) -> None:
        """Clears entries at once; durable when `sync_job` has run. Raises OSError."""
        with self._lock:
            for job in self._jobs:
                job.gone |= gone
            zero_offsets(gone, self.path)
        self.latest = None

    def sync_job(self, done: Done) -> SyncJob | None:
        """The job that makes `forget` durable, to be submitted at once; None if one is waiting."""
        if self._sync is not None and not self._sync.has_begun:
            return None
        self._sync = SyncJob(self.path, done)
        return self._sync


class CheckpointJob(DiskJob):
    """Replaces the checkpoint at `path`. `gone` are deleted logs; under `lock` more may be added
    until the file is replaced."""

    def __init__(self, path: str, offsets: Offsets, done: Done, lock: Lock) -> None:
        self._path = path
        self._offsets = offsets
        self._done = done
        self._lock = lock
        self.gone: set[TopicPartition] = set()

    def work(self) -> None:
        try:
            write_entries(self._path, self._entries(), replace=self._put)
        except OSError as error:
            error.filename = error.filename or self._path
            raise

    def _put(self, temporary: str, path: str) -> None:
        with self._lock:
            if self.gone:
                zero_offsets(self.gone, temporary)
            os.replace(temporary, path)

    def _entries(self) -> list[str]:
        """The lines of the file, in pieces, so that the thread that appends can run in between."""
        entries: list[str] = []
        items = iter(self._offsets.items())
        while piece := dict(islice(items, PIECE)):
            entries += offset_entries(piece)
            if len(piece) == PIECE:
                time.sleep(PAUSE_S)
        return entries

    def finish(self) -> None:
        error = self.error
        if error is None and not self.is_done:  # `run` raised something else: no memory
            error = OSError(errno.ENOMEM, "it could not be written", self._path)
        self._done(error)
