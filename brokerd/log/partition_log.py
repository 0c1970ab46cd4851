"""The log of one partition: an offset for every record, appended and read.

Invariants besides those of `stored_log`:
- an append is staged, written by one `pwritev`, and only then taken in: a failed write leaves the
  log as it was, in memory and on disk;
- a group of batches goes into one segment whole;
- a read answers whole batches from the one that holds the offset on, as a range of a file: no byte
  of a record passes through here.
"""

import os
from collections.abc import Sequence
from typing import Final

from brokerd.errors import ErrorCode, KafkaError
from brokerd.limits import INT32_MAX
from brokerd.log import inspection
from brokerd.log.append import AppendResult, Buffer, Staged, stage, stage_replicated
from brokerd.log.cleanable_log import CleanableLog
from brokerd.log.context import raises_storage_error
from brokerd.log.end_transaction_marker import read_marker
from brokerd.log.indexes.offset_index import ENTRY_BYTES as INDEX_ENTRY_BYTES
from brokerd.log.indexes.offset_index import CorruptIndexError
from brokerd.log.indexes.time_index import ENTRY_BYTES as TIME_ENTRY_BYTES
from brokerd.log.indexes.txn_index import AbortedTxn
from brokerd.log.io.open_files import FileRange
from brokerd.log.io.page_cache import NotInPageCache
from brokerd.log.io.write_back import WriteBackJob
from brokerd.log.producer_state import ProducerEntry
from brokerd.log.segments import timestamp_search
from brokerd.log.segments.segment import Segment
from brokerd.protocol.records import BatchHeader

BUFFERS_MAX: Final = 1024
MARK_BYTES: Final = 8 << 20
"""How much is appended before it is written back; what lies further back may not be in memory."""


class PartitionLog(CleanableLog):
    """See the module."""

    __slots__ = ()

    # -- append ------------------------------------------------------------------------------------

    def append(
        self, batches: Sequence[Buffer], leader_epoch: int, now_ms: int
    ) -> list[AppendResult]:
        """Write a producer's batches, each checked by `check_batch` before.

        Offsets and epoch are stamped into the (writable) views. Refusals of single batches are in
        their results. KafkaError(KAFKA_STORAGE_ERROR): nothing was written, unless the group was
        too large for one write; then whole batches at its beginning may have been.
        """
        try:
            if not self.is_loaded:
                self.load()
            return self._append(batches, leader_epoch, now_ms)
        except OSError as error:
            raise self._context.failed(error) from error

    def _append(
        self, batches: Sequence[Buffer], leader_epoch: int, now_ms: int
    ) -> list[AppendResult]:
        if len(batches) > BUFFERS_MAX:
            first = self._append(batches[:BUFFERS_MAX], leader_epoch, now_ms)
            return first + self._append(batches[BUFFERS_MAX:], leader_epoch, now_ms)
        staged = stage(
            batches, self.log_end_offset, leader_epoch, self._producers or self.producers,
            now_ms if self._append_time else -1,
        )  # fmt: skip
        if not staged.rows:
            return staged.results
        if not self._fits(staged, now_ms):
            if (
                staged.size_bytes > self.config.segment_bytes
                or staged.next_offset - 1 - self.log_end_offset > INT32_MAX
            ):
                return self._append_oversized(batches, leader_epoch, now_ms)
            self.roll(now_ms)
        if leader_epoch != self._last_epoch:
            self._begin_epoch(leader_epoch, self.log_end_offset)
        self._write(staged)
        return staged.results

    def _begin_epoch(self, epoch: int, start_offset: int) -> None:
        """Note an epoch whose first batch is about to be written."""
        self.epochs.assign(epoch, start_offset)
        self._last_epoch = epoch

    def _append_oversized(
        self, batches: Sequence[Buffer], leader_epoch: int, now_ms: int
    ) -> list[AppendResult]:
        """A group larger than a segment, in bytes or offsets: one by one; a batch larger than a
        segment is refused."""
        if len(batches) == 1:
            error = ErrorCode.RECORD_LIST_TOO_LARGE
            return [AppendResult(-1, -1, -1, error, False)]
        return [
            result for batch in batches for result in self._append([batch], leader_epoch, now_ms)
        ]

    def append_replicated(
        self, batches: Sequence[tuple[BatchHeader, Buffer]], now_ms: int
    ) -> list[AppendResult]:
        """Write a leader's batches as they are. Raises KafkaError as `append`.

        The caller has checked their CRC. An offset below the log end is refused with
        OFFSET_OUT_OF_RANGE: the caller has to truncate first.
        """
        try:
            if not self.is_loaded:
                self.load()
            return self._append_replicated(batches, now_ms)
        except OSError as error:
            raise self._context.failed(error) from error

    def _append_replicated(
        self, batches: Sequence[tuple[BatchHeader, Buffer]], now_ms: int
    ) -> list[AppendResult]:
        if batches[0][0].base_offset < self.log_end_offset:
            raise KafkaError(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"offset {batches[0][0].base_offset} is before the log end {self.log_end_offset}",
            )
        staged = stage_replicated(batches)
        if not self._fits(staged, now_ms):
            self.roll(now_ms, batches[0][0].base_offset)
        for header, _ in batches:
            if header.leader_epoch != self._last_epoch:
                self._begin_epoch(header.leader_epoch, header.base_offset)
        producers = self.producers
        self._write(staged)
        aborted = producers.replay(
            (header, read_marker(header, memoryview(view)) if header.is_control else None)
            for header, view in batches
        )
        if aborted:
            active = self._segments.active
            active.set_aborted([*active.aborted, *aborted], len(active.aborted))
        return staged.results

    def _write(self, staged: Staged) -> None:
        active = self._segments.active
        active.write(staged.buffers, staged.size_bytes)
        active.remember(self.log_end_offset, active.size_bytes)
        active.account(staged.rows)
        if staged.producers:
            self.producers.commit(staged.producers)
        self.log_end_offset = staged.next_offset
        self._since_mark_bytes += staged.size_bytes
        if self._since_mark_bytes > MARK_BYTES:
            self._pass_mark()

    def _pass_mark(self) -> None:
        """Some megabytes were appended: start writing them to the disk; older ones may leave the
        page cache."""
        self.cached_from_offset, self._mark_offset = self._mark_offset, self.log_end_offset
        self._since_mark_bytes = 0
        active = self._segments.active
        active.hold_index()
        if active.write_back_from < active.size_bytes:
            self._context.submit(WriteBackJob(active))

    def _fits(self, staged: Staged, now_ms: int) -> bool:
        """Whether a group may go into the active segment."""
        active = self._segments.active
        config = self.config
        if active.size_bytes + staged.size_bytes > config.segment_bytes:
            return False
        if staged.next_offset - 1 - active.base_offset > INT32_MAX:
            return False
        if active.size_bytes == 0:
            active.index, active.time_index  # noqa: B018 - what cannot be opened fails now
            return True
        if active.bytes_since_index + staged.size_bytes > config.index_interval_bytes:
            # Only then it may get an entry.
            index_bytes = config.segment_index_bytes
            if len(active.index) >= index_bytes // INDEX_ENTRY_BYTES:
                return False
            if len(active.time_index) >= index_bytes // TIME_ENTRY_BYTES - 1:
                return False
        return not self._is_old(staged.max_timestamp_ms, now_ms)

    # -- read --------------------------------------------------------------------------------------

    def read(
        self,
        offset: int,
        max_bytes: int,
        *,
        up_to: int,
        min_one_batch: bool,
        may_block: bool = True,
    ) -> FileRange | None:
        """The batches from the one that holds `offset` on, all below the offset `up_to`.

        At most `max_bytes`, but with `min_one_batch` at least one batch. None: nothing there yet.
        The range is pinned: release it. Raises KafkaError: OFFSET_OUT_OF_RANGE, or
        KAFKA_STORAGE_ERROR; and NotInPageCache if not may_block and it would wait for the disk.
        """
        try:
            if not self._ready:
                if not may_block:
                    raise NotInPageCache(self.first_use())
                self.check_end()
            if not self.log_start_offset <= offset <= self.log_end_offset:
                raise KafkaError(
                    ErrorCode.OFFSET_OUT_OF_RANGE,
                    f"offset {offset} is outside {self.log_start_offset} to {self.log_end_offset}",
                )
            if offset >= up_to:
                return None
            return self._segments.range_from(
                offset, max_bytes, up_to, self.log_end_offset, min_one_batch=min_one_batch,
                may_block=may_block or offset >= self.cached_from_offset,
            )  # fmt: skip
        except NotInPageCache:
            # The system does drop pages of this log: what was written last may have gone, too.
            self.cached_from_offset = self._mark_offset = self.log_end_offset
            raise
        except OSError as error:
            raise self._context.failed(error) from error

    @raises_storage_error
    def bytes_below(self, offset: int, up_to: int, found: FileRange | None) -> int | None:
        """How many bytes there are from the batch that holds `offset` up to the offset `up_to`,
        which is behind it; None where that is in a later segment than the batch, which no read
        reaches. `found` is what `read` gave for them just now: with it this does not wait for the
        disk. Raises KafkaError(KAFKA_STORAGE_ERROR)."""
        return self._segments.bytes_below(offset, up_to, self.log_end_offset, found)

    @raises_storage_error
    def offset_for_timestamp(
        self, timestamp_ms: int, *, may_block: bool = True
    ) -> tuple[int, int, int] | None:
        """(offset, timestamp, leader epoch) of the first record at or after a timestamp. Raises
        KafkaError(KAFKA_STORAGE_ERROR); NotInPageCache if not may_block and it would wait for the
        disk."""
        self.check_end(may_block=may_block)
        return timestamp_search.first_at_or_after(
            self._segments, timestamp_ms, self.log_start_offset, may_block=may_block
        )

    @raises_storage_error
    def max_timestamp_offset(self, *, may_block: bool = True) -> tuple[int, int, int] | None:
        """(offset, timestamp, leader epoch) of the record with the largest timestamp, also one that
        was deleted and is there yet. Raises as `offset_for_timestamp`."""
        self.check_end(may_block=may_block)
        return timestamp_search.largest(self._segments, may_block=may_block)

    @raises_storage_error
    def segment_times(self, now_ms: int, *, may_block: bool = True) -> list[tuple[int, int]]:
        """(first offset, ms since the epoch when it was last written) of each segment, oldest
        first, and the log end with `now_ms` if the last segment holds anything. Raises as
        `offset_for_timestamp`."""
        self.check_end(may_block=may_block)
        start = self.log_start_offset
        times = [
            (max(each.base_offset, start), int(os.stat(each.file.path).st_mtime * 1000))
            for each in self._segments
        ]
        if self._segments.active.size_bytes:
            times.append((self.log_end_offset, now_ms))
        return times

    def active_producers(self) -> dict[int, ProducerEntry]:
        """The producers that the log knows, by id. Raises KafkaError(KAFKA_STORAGE_ERROR)."""
        return self._known_producers().entries

    def aborted_transactions(self, offset: int, found: FileRange) -> list[tuple[int, int]]:
        """(producer id, first offset) of the aborted transactions in a range that `read` found, and
        as in Kafka of those up to the next entry of the offset index.

        Raises KafkaError(KAFKA_STORAGE_ERROR).
        """
        try:
            aborted = self._aborted_in(offset, found)
        except CorruptIndexError as error:
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, str(error)) from error
        except OSError as error:
            raise self._context.failed(error) from error
        return [(each.producer_id, each.first_offset) for each in aborted]

    def _aborted_in(self, offset: int, found: FileRange) -> list[AbortedTxn]:
        try:
            return self._segments.aborted_in(offset, found, self.log_end_offset)
        except CorruptIndexError:
            self._mend_aborted()
            return self._segments.aborted_in(offset, found, self.log_end_offset)

    # -- for people --------------------------------------------------------------------------------

    @raises_storage_error
    def segment_summaries(self, *, may_block: bool = True) -> list[inspection.SegmentSummary]:
        """What `inspection.describe` goes by, in any thread. Raises as `offset_for_timestamp`."""
        return inspection.segment_summaries(
            self._segments, self.log_end_offset, may_block=may_block
        )

    @raises_storage_error
    def index_entries(
        self,
        base_offset: int,
        kind: inspection.Kind,
        start: int,
        limit: int,
        *,
        may_block: bool = True,
    ) -> tuple[int, list[tuple[int, int]]]:
        """How many (offset, position) or (timestamp, offset) entries one segment's index has, and
        some of them. Raises as `offset_for_timestamp`."""
        segment = self._segment(base_offset)
        return inspection.index_entries(segment, kind, start, limit, may_block=may_block)

    @raises_storage_error
    def data_from(self, base_offset: int, position: int) -> FileRange:
        """The rest of one segment's data, for `inspection.batches` and `compression_sample.sample`.
        It is pinned: release it. Raises KafkaError(INVALID_REQUEST) where it ends before."""
        segment = self._segment(base_offset)
        if position > segment.size_bytes:
            raise inspection.no_batch_at(position)
        return segment.file.pin(position, segment.size_bytes - position)

    def unreadable(self, error: OSError) -> KafkaError:
        """What to raise where another thread could not read a file of the log."""
        return self._context.failed(error)

    def _segment(self, base_offset: int) -> Segment:
        segment = self._segments.get(base_offset)
        if segment is None:
            raise KafkaError(
                ErrorCode.OFFSET_OUT_OF_RANGE, f"no segment begins at offset {base_offset}"
            )
        return segment
