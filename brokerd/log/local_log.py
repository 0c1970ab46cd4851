"""The files of one log: its segments, rolled, cut, made durable and closed.

Invariants:
- what lies below `recovery_point` is durable and never checked again;
- the last segment is the active one, the only one written to;
- `segments` is the same object for as long as the log is there.
Where the log starts and ends is known by its owner (`unified_log`), which passes it. Not
thread-safe: all calls come from one thread, which passes the time.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Final

from brokerd.config.log_config import LogConfig
from brokerd.errors import ErrorCode, KafkaError
from brokerd.log.append import Staged
from brokerd.log.context import LogContext, no_failure, raises_storage_error, run_now
from brokerd.log.indexes.offset_index import CorruptIndexError
from brokerd.log.indexes.sparse_indexing import account
from brokerd.log.indexes.txn_index import AbortedTxn
from brokerd.log.io.flush import Flushes, FlushJob
from brokerd.log.io.open_files import FileRange
from brokerd.log.io.write_back import WriteBackJob
from brokerd.log.loading import recovery
from brokerd.log.segments.background_read import SegmentSnapshot
from brokerd.log.segments.removal import mark_deleted, remove_segments
from brokerd.log.segments.segment import Segment
from brokerd.log.segments.segment_list import SegmentList

MARK_BYTES: Final = 8 << 20
"""How much is appended before it is written back; what lies further back may not be in memory."""


class LocalLog:
    """See the module. `name` is the same for one log whenever it is loaded; `on_synced` is called
    when more is durable."""

    __slots__ = (
        "_flushes", "_mark_offset", "_name", "_since_mark_bytes",
        "cached_from_offset", "config", "context", "directory", "is_abandoned", "on_synced",
        "recovery_point", "roll_jitter_ms", "segments", "truncations",
    )  # fmt: skip

    def __init__(
        self,
        context: LogContext,
        directory: str,
        name: str,
        config: LogConfig,
        loaded: recovery.LoadedLog,
    ) -> None:
        self.context = context
        self.directory = directory
        self.truncations = 0
        self.is_abandoned = False
        self.on_synced: Callable[[], object] = lambda: None
        self.segments = SegmentList(loaded.segments)
        self.recovery_point = loaded.recovery_point
        self._name = name
        self._flushes = Flushes(context.submit)
        self._mark_offset = loaded.log_end_offset
        self.note_uncached_below(loaded.log_end_offset)
        self.reconfigure(config)

    def reconfigure(self, config: LogConfig) -> None:
        """Obey other settings from the next append on."""
        self.config = config
        for segment in self.segments:
            segment.index_interval_bytes = config.index_interval_bytes
        self._set_roll_jitter()

    def _set_roll_jitter(self) -> None:
        """Spread time-based rolls; the same for one segment whenever it is asked."""
        self.roll_jitter_ms = self.config.jitter_ms(
            f"{self._name}-{self.segments.active.base_offset}"
        )

    def failed(self, error: OSError) -> KafkaError:
        """What to raise where the disk refused."""
        return self.context.failed(error)

    def segment_snapshots(self, offset: int) -> list[SegmentSnapshot]:
        """The segments from the one on that holds an offset, for any thread."""
        return [SegmentSnapshot(each) for each in self.segments.from_offset(offset)]

    # -- append (when to roll: `roll_policy`) ------------------------------------------------------

    def append(self, staged: Staged, log_end_offset: int) -> None:
        """Write a group to the active segment, or nothing. Raises OSError."""
        active = self.segments.active
        active.write(staged.buffers, staged.size_bytes)
        active.remember(log_end_offset, active.size_bytes)
        account(active, staged.rows)
        self._since_mark_bytes += staged.size_bytes
        if self._since_mark_bytes > MARK_BYTES:
            self._pass_mark(staged.next_offset)

    def _pass_mark(self, log_end_offset: int) -> None:
        """Some megabytes were appended: start writing them to the disk; older ones may leave the
        page cache."""
        self.cached_from_offset, self._mark_offset = self._mark_offset, log_end_offset
        self._since_mark_bytes = 0
        active = self.segments.active
        active.hold_index()
        if active.write_back_from < active.size_bytes:
            with suppress(OSError):  # the append itself was done
                self.context.submit(WriteBackJob(active))

    def note_uncached_below(self, offset: int) -> None:
        """Below it, pages may have left the page cache."""
        self.cached_from_offset = self._mark_offset = offset
        self._since_mark_bytes = 0

    def add_segment(self, base_offset: int, now_ms: int) -> None:
        """Begin a segment at an offset; it is the active one. Raises OSError."""
        segment = Segment.create(self.context.files, self.directory, base_offset, now_ms)
        segment.index_interval_bytes = self.config.index_interval_bytes
        self.segments.add(segment)
        self._set_roll_jitter()

    # -- cutting -----------------------------------------------------------------------------------

    def truncate_to(self, offset: int) -> int:
        """Cut off the batch that holds `offset` and all behind it; returns where the log now ends.
        Raises OSError."""
        remove_segments(self.segments.drop_after(offset))
        return self.segments.active.truncate_to(offset)

    def start_at(self, offset: int) -> None:
        """Drop everything and go on with an empty segment. Raises OSError."""
        created_ms = self.segments.active.created_ms
        remove_segments(list(self.segments))
        self.take([Segment.create(self.context.files, self.directory, offset, created_ms)])

    def take(self, segments: list[Segment]) -> None:
        """Have these segments instead of those before."""
        self.segments.reset(segments)
        self.reconfigure(self.config)

    def note_cut(self, offset: int) -> None:
        """Take note that the log ends at `offset` now, and what was behind is gone."""
        self.truncations += 1
        self.note_uncached_below(offset)
        if self.recovery_point > offset:
            self.recovery_point = offset
            self.context.on_cut()

    def delete(self, segments: list[Segment], now_ms: int) -> None:
        """Rename files of segments that were taken out, and remove them later. Raises OSError."""
        for segment in segments:
            self.remove_later(mark_deleted(segment), now_ms)

    def remove_later(self, paths: list[str], now_ms: int) -> None:
        """Have files that were renamed away removed after file.delete.delay.ms."""
        for path in paths:
            self.context.trash.add(path, now_ms + self.config.file_delete_delay_ms)

    # -- aborted transactions ----------------------------------------------------------------------

    def aborted_in(
        self, offset: int, found: FileRange, log_start_offset: int, log_end_offset: int
    ) -> list[AbortedTxn]:
        """The aborted transactions in a range that was found for `offset`, and as in Kafka those up
        to the next entry of the offset index. Raises KafkaError(KAFKA_STORAGE_ERROR)."""
        try:
            try:
                return self.segments.aborted_in(offset, found, log_end_offset)
            except CorruptIndexError:
                self.mend_aborted(log_start_offset)
                return self.segments.aborted_in(offset, found, log_end_offset)
        except CorruptIndexError as error:
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, str(error)) from error
        except OSError as error:
            raise self.failed(error) from error

    @raises_storage_error
    def mend_aborted(self, log_start_offset: int) -> None:
        """Make transaction indexes that are damaged anew from the data. Raises KafkaError."""
        recovery.mend_aborted(list(self.segments), log_start_offset)
        self.segments.forget_skips()

    # -- durability --------------------------------------------------------------------------------

    def segments_between(self, start_offset: int, end_offset: int) -> list[Segment]:
        """The segments that hold offsets in [start, end)."""
        return self.segments.between(start_offset, end_offset)

    @raises_storage_error
    def begin_flush(self, up_to: int, done: Callable[[], None] = lambda: None) -> None:
        """Have all below `up_to`, which is at or below the log end, made durable, in its own time.
        Raises KafkaError."""
        self._flushes.begin(self, up_to, done)

    def flush(self, up_to: int) -> None:
        """Make all below `up_to` durable. Raises OSError."""
        if self.recovery_point < up_to:
            job = FlushJob(self, up_to)
            run_now(job)
            if job.error is not None:
                raise job.error

    def flush_failed(self, error: OSError) -> None:
        """Take note that something could not be made durable: the disk is not to be trusted."""
        self.context.failed(error)

    def flushed_to(self, offset: int) -> None:
        """Take note that all below `offset` is durable."""
        self.recovery_point = max(self.recovery_point, offset)
        self.on_synced()

    def close_files(self) -> None:
        """Close what is open; it opens again where it is needed."""
        for segment in self.segments:
            segment.file.close()

    def abandon(self) -> None:
        """Close the files of a log that is about to be renamed away. Who still has it in hand may
        look for them where they were: that says nothing about the disk."""
        self.is_abandoned = True
        self.context = replace(self.context, on_failure=no_failure)
        for segment in self.segments:
            segment.abandon()
