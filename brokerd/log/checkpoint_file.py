"""One checkpoint of a log directory: which logs it has entries of, now or after the next write.

Entries are by topic and partition, and the files are written later than logs are deleted. So before
a log is created whose name an entry of a deleted log may have, `forget` clears that entry: else,
after a kill, the new log would begin at the old offset, and acknowledged records would be lost.
(Kafka writes the files anew whenever a log is deleted.)
"""

from collections.abc import Callable, Mapping, Set
from contextlib import suppress
from threading import Lock

from brokerd.errors import KafkaError
from brokerd.log.checkpoint_job import CheckpointJob, Done
from brokerd.log.checkpoints import Offsets, read_offsets, zero_offsets
from brokerd.log.io.files import sync_path
from brokerd.topic_partition import TopicPartition


class CheckpointFile:
    """See the module. `latest` are the entries of the file once all submitted jobs are done; None
    if they are not known."""

    __slots__ = ("_forgotten", "_jobs", "_lock", "_on_disk", "_sync", "latest", "path")

    def __init__(self, path: str) -> None:
        self.path = path
        self.latest: Offsets | None = None
        self._on_disk: Offsets | None = None
        self._forgotten: set[TopicPartition] = set()  # of what is on disk
        self._jobs: list[CheckpointJob] = []
        self._sync: SyncJob | None = None
        self._lock = Lock()  # held while a file takes the place of another

    def read(self) -> Mapping[TopicPartition, int]:
        """The entries. Raises KafkaError if the file is damaged; then it counts as empty."""
        self._on_disk = {}
        self._on_disk = read_offsets(self.path)
        return self._on_disk

    def job(self, offsets: Offsets, done: Done) -> CheckpointJob:
        """The job that writes these offsets, which must not change any more; to be submitted at
        once."""

        def finish(error: OSError | None) -> None:
            self._jobs.remove(job)
            if error is None:
                self._on_disk, self._forgotten = offsets, job.gone
            else:  # the old one may be there or the new one
                self._on_disk, self._forgotten = {**(self._on_disk or {}), **offsets}, set()
                self.latest = None
            done(error)

        job = CheckpointJob(self.path, offsets, finish, self._lock)
        self._jobs.append(job)
        self.latest = offsets
        return job

    def may_name(self, key: TopicPartition) -> bool:
        """Whether the file has an entry of a log, or will have when submitted jobs are done."""
        if self._on_disk is None:
            with suppress(KafkaError):  # it says nothing, whoever reads it
                self.read()
        is_on_disk = key in (self._on_disk or ()) and key not in self._forgotten
        return is_on_disk or any(key in job.offsets and key not in job.gone for job in self._jobs)

    def forget(self, gone: Set[TopicPartition]) -> None:
        """Clears the entries of these logs at once; durable when `sync_job` has run. Raises
        OSError."""
        with self._lock:
            for job in self._jobs:
                job.gone |= gone
            zero_offsets(gone, self.path)
        self._forgotten |= gone
        self.latest = None

    def sync_job(self, failed: Callable[[OSError], object]) -> "SyncJob | None":
        """The job that makes `forget` durable, to be submitted at once; None if one is waiting."""
        if self._sync is not None and not self._sync.has_begun:
            return None
        self._sync = SyncJob(self.path, failed)
        return self._sync


class SyncJob:
    """Syncs a file. `failed` is called, in the thread that uses the logs, if that fails."""

    __slots__ = ("_error", "_failed", "_path", "has_begun")

    def __init__(self, path: str, failed: Callable[[OSError], object]) -> None:
        self._path = path
        self._failed = failed
        self._error: OSError | None = None
        self.has_begun = False

    def run(self) -> None:
        self.has_begun = True
        try:
            sync_path(self._path)
        except FileNotFoundError:
            pass
        except OSError as error:
            self._error = error

    def finish(self) -> None:
        if self._error is not None:
            self._failed(self._error)
