"""The offset at which each leader epoch began, by which followers find where logs diverge.

File `leader-epoch-checkpoint`: entries `epoch start_offset`, both rising. The entry of an epoch is
made by the first batch appended under it. The file is replaced by a job that runs before a later
flush: recovery finds the epochs of unflushed batches in the batches. After a damaged file
(`is_damaged`) the owner computes the epochs from the batches.
"""

import logging
import threading
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from operator import itemgetter
from typing import Final

from brokerd.errors import KafkaError
from brokerd.log import file_names
from brokerd.log.checkpoint_file import EPOCH, malformed, read_entries, write_entries
from brokerd.log.io.disk_jobs import DiskJob, run_now
from brokerd.log.log_context import no_failure

logger = logging.getLogger(__name__)

NO_EPOCH: Final = -1
NO_OFFSET: Final = -1

_epoch_of = itemgetter(0)
_start_of = itemgetter(1)


class LeaderEpochFileCache:
    __slots__ = ("_damage", "_file", "_submit", "entries")

    def __init__(
        self,
        directory: str,
        submit: Callable[[DiskJob], None] = run_now,
        failed: Callable[[OSError], object] = no_failure,
    ) -> None:
        """`failed` is called, where logs are used, if the file cannot be written."""
        path = f"{directory}/{file_names.EPOCH_CHECKPOINT}"
        self._file = _File(path, failed)
        self._submit = submit
        self.entries: list[tuple[int, int]] = []
        self._damage = ""
        try:
            self.entries = _read(path)
        except KafkaError as error:
            self._damage = error.message

    @property
    def is_damaged(self) -> bool:
        """Whether the file is damaged, until it has been saved."""
        return bool(self._damage)

    @property
    def latest(self) -> int:
        return self.entries[-1][0] if self.entries else NO_EPOCH

    def epoch_at(self, log_start_offset: int) -> int:
        """The epoch of the log's first record; -1 if it is not known."""
        epoch, start = self.entries[0] if self.entries else (NO_EPOCH, NO_OFFSET)
        return epoch if start <= log_start_offset else NO_EPOCH

    def assign(self, epoch: int, start_offset: int) -> None:
        """Adds that `epoch` begins at `start_offset`; removes entries that contradict it."""
        if self.note(epoch, start_offset):
            self.save()

    def note(self, epoch: int, start_offset: int) -> bool:
        """As `assign`, in memory only; returns whether anything changed."""
        if epoch < 0 or epoch == self.latest:
            return False
        entries = self.entries
        kept = min(
            bisect_left(entries, epoch, key=_epoch_of),
            bisect_left(entries, start_offset, key=_start_of),
        )
        entries[kept:] = [(epoch, start_offset)]
        return True

    def found(self, epoch: int, base_offset: int) -> None:
        """A batch was read: an epoch above the latest is new, in memory (LogSegment.recover)."""
        if epoch > self.latest:
            self.note(epoch, base_offset)

    def end_offset_for(
        self, epoch: int, log_end_offset: int, leader_epoch: int = NO_EPOCH
    ) -> tuple[int, int]:
        """(largest known epoch <= `epoch`, the offset where it ended); (-1, -1) if unknown. As in
        Kafka, an epoch before the first one known answers itself with the start of the first. The
        `leader_epoch` of a leader is known, although it has no entry before its first batch."""
        if epoch < 0 or epoch > max(self.latest, leader_epoch):
            return NO_EPOCH, NO_OFFSET
        if epoch in (self.latest, leader_epoch):
            return epoch, log_end_offset
        if epoch > self.latest:
            return self.latest, log_end_offset
        higher = bisect_right(self.entries, epoch, key=_epoch_of)
        known = self.entries[higher - 1][0] if higher else epoch
        return known, self.entries[higher][1]

    def truncate_end(self, offset: int) -> None:
        """Forget epochs that began at or after `offset`."""
        kept = bisect_left(self.entries, offset, key=_start_of)
        if kept < len(self.entries):
            del self.entries[kept:]
            self.save()

    def truncate_start(self, offset: int) -> None:
        """Forget epochs that ended at or before `offset`; the one it lies in begins there."""
        found = bisect_right(self.entries, offset, key=_start_of)
        if found > 1 or (found and self.entries[0][1] < offset):
            self.entries[:found] = [(self.entries[found - 1][0], offset)]
            self.save()

    def save(self) -> None:
        if self._damage:
            logger.warning("%s; the leader epochs were read from the batches", self._damage)
            self._damage = ""
        self._file.entries = [f"{epoch} {start}" for epoch, start in self.entries]
        if not self._file.is_queued:
            self._file.is_queued = True
            self._submit(self._file)

    def close(self) -> None:
        """The directory is about to become another's: nothing is written any more."""
        self._file.close()


class _File(DiskJob):
    """Replaces the file by the entries at the time when it runs. `_writing` is held meanwhile, so
    that nothing is written after `close`; each log has its own lock, for a disk may hang."""

    def __init__(self, path: str, failed: Callable[[OSError], object]) -> None:
        self._path = path
        self._failed = failed
        self.entries: list[str] = []
        self._writing = threading.Lock()
        self._is_closed = False
        self.is_queued = False

    def work(self) -> None:
        self.is_queued = False  # what is saved from here on is written by another run
        with self._writing:
            if not self._is_closed:
                write_entries(self._path, self.entries, sync=False)

    def close(self) -> None:
        """Nothing is written any more; waits for what is being written."""
        with self._writing:
            self._is_closed = True

    def finish(self) -> None:
        error, self.error = self.error, None
        if error is not None:
            self._failed(error)


def _read(path: str) -> list[tuple[int, int]]:
    """(epoch, start offset) of each entry, both rising. Raises KafkaError."""
    entries: list[tuple[int, int]] = []
    for line, (_, epoch, start) in enumerate(read_entries(path, EPOCH), 3):
        if entries and not (epoch > entries[-1][0] and start > entries[-1][1]):
            raise malformed(path, line, "epochs and offsets must rise from line to line")
        entries.append((epoch, start))
    return entries
