"""What compaction asks of a log, and what it does to it."""

from collections.abc import Sequence
from functools import partial

from brokerd.log.context import raises_storage_error
from brokerd.log.indexes.txn_index import AbortedTxn
from brokerd.log.loading import recovery
from brokerd.log.segments.replace_segments import SwapSyncJob, swap_in
from brokerd.log.segments.segment import Segment
from brokerd.log.stored_log import StoredLog


class CleanableLog(StoredLog):
    """A log whose closed segments can be replaced by cleaned ones."""

    __slots__ = ()

    def closed_segments(self) -> list[Segment]:
        """All segments but the active one."""
        return list(self._segments)[:-1]

    def end_of_segment(self, segment: Segment) -> int:
        """The offset at which one of the segments ends."""
        return self._segments.end_after(segment.base_offset, self.log_end_offset)

    def aborted_across(self, offset: int) -> list[AbortedTxn]:
        """The aborted transactions that began before a segment's end and ended behind it.

        Raises OSError.
        """
        self._mend_aborted()  # the cleaner reads the files of all segments
        return self._segments.aborted_across(offset)

    @raises_storage_error
    def _mend_aborted(self) -> None:
        recovery.mend_aborted(list(self._segments), self.log_start_offset)
        self._segments.forget_skips()

    def has_closed(self, bases: Sequence[int]) -> bool:
        """Whether these base offsets are those of neighbouring closed segments."""
        return self._segments.closed_run(bases) is not None

    @raises_storage_error
    def replace_segments(
        self, bases: Sequence[int], job: str, size_bytes: int, now_ms: int
    ) -> None:
        """Put what a job made of closed neighbours in their place. Raises KafkaError: then they are
        what they were, unless the disk has failed."""
        old = self._segments.closed_run(bases)
        if old is None:
            raise ValueError(f"{bases} are no closed segments of {self.directory}")
        deleted = swap_in(old, job, size_bytes)
        segment = Segment(
            self._context.files, self.directory, old[0].base_offset, size_bytes, old[0].created_ms
        )
        segment.index_interval_bytes = self.config.index_interval_bytes
        self._segments.replace(old, segment)
        remove = partial(self._remove_later, deleted, now_ms + self.config.file_delete_delay_ms)
        self._context.submit(SwapSyncJob(self.directory, remove, self._context.failed))
        detail = {"segments": list(bases), "size_bytes": size_bytes}
        self._event("compaction", **detail)

    def _remove_later(self, deleted: list[str], due_ms: int) -> None:
        for path in deleted:
            self._context.trash.add(path, due_ms)
