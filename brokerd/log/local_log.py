"""The files of one log: appends to its segments, cuts, flushes and closes them (Kafka's LocalLog).

Invariants: what lies below `recovery_point` is durable; the last segment is the active one, the
only one written to; `segments` is the same object for as long as the log is there. Where the log
starts and ends is known by `UnifiedLog`, which passes it. Not thread-safe.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Final

from brokerd.config.log_config import LogConfig
from brokerd.errors import ErrorCode, KafkaError
from brokerd.log.assign_offsets import Staged
from brokerd.log.indexes.index_interval import index_batches
from brokerd.log.indexes.offset_index import CorruptIndexError
from brokerd.log.indexes.transaction_index import AbortedTxn
from brokerd.log.io.disk_jobs import run_now
from brokerd.log.io.flush import Flushes, FlushJob
from brokerd.log.io.open_files import FileRange
from brokerd.log.io.write_back import WriteBackJob
from brokerd.log.loading import recover_log
from brokerd.log.log_context import LogContext, no_failure, raises_storage_error
from brokerd.log.segments.log_segment import LogSegment
from brokerd.log.segments.log_segments import LogSegments, mark_deleted, remove_segments

MARK_BYTES: Final = 8 << 20
"""How much is appended before it is written back; what lies further back may not be in memory."""


class LocalLog:
    """`name` is the same whenever it is loaded; `on_synced` is called when more is durable."""

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
        loaded: recover_log.LoadedLog,
    ) -> None:
        self.context = context
        self.directory = directory
        self.truncations = 0
        self.is_abandoned = False
        self.on_synced: Callable[[], object] = lambda: None
        self.segments = LogSegments(loaded.segments)
        self.recovery_point = loaded.recovery_point
        self._name = name
        self._flushes = Flushes(context.submit)
        self._mark_offset = loaded.log_end_offset
        self.note_uncached_below(loaded.log_end_offset)
        self.reconfigure(config)

    def reconfigure(self, config: LogConfig) -> None:
        self.config = config
        for segment in self.segments:
            segment.index_interval_bytes = config.index_interval_bytes
        self._set_roll_jitter()

    def _set_roll_jitter(self) -> None:
        """The jitter of rolls by time; always the same for one segment."""
        self.roll_jitter_ms = self.config.jitter_ms(
            f"{self._name}-{self.segments.active.base_offset}"
        )

    def failed(self, error: OSError) -> KafkaError:
        return self.context.failed(error)

    # -- append (when to roll: `should_roll`) ------------------------------------------------------

    def append(self, staged: Staged, log_end_offset: int) -> None:
        """Writes a group to the active segment, whole or not at all. Raises OSError."""
        active = self.segments.active
        active.write(staged.buffers, staged.size_bytes)
        # The position of the group: `size_bytes` grows in `index_batches`.
        active.remember_position(log_end_offset, active.size_bytes)
        index_batches(active, staged.rows)
        self._since_mark_bytes += staged.size_bytes
        if self._since_mark_bytes > MARK_BYTES:
            self._pass_mark(staged.next_offset)

    def _pass_mark(self, log_end_offset: int) -> None:
        """Begins to write MARK_BYTES to the disk; earlier ones may have left the page cache."""
        self.cached_from_offset, self._mark_offset = self._mark_offset, log_end_offset
        self._since_mark_bytes = 0
        active = self.segments.active
        active.hold_index()
        if active.write_back_from < active.size_bytes:
            with suppress(OSError):  # the append itself was done
                self.context.submit(WriteBackJob(active))

    def note_uncached_below(self, offset: int) -> None:
        """Records below the offset may not be in the page cache."""
        self.cached_from_offset = self._mark_offset = offset
        self._since_mark_bytes = 0

    def add_segment(self, base_offset: int, now_ms: int) -> None:
        """Begins a segment at an offset; it becomes the active one. Raises OSError."""
        segment = LogSegment.create(self.context.files, self.directory, base_offset, now_ms)
        segment.index_interval_bytes = self.config.index_interval_bytes
        self.segments.add(segment)
        self._set_roll_jitter()

    # -- cutting -----------------------------------------------------------------------------------

    def truncate_to(self, offset: int) -> int:
        """Cuts off the batch with `offset` and all after it; returns the new log end. Raises
        OSError."""
        remove_segments(self.segments.drop_after(offset))
        return self.segments.active.truncate_to(offset)

    def start_at(self, offset: int) -> None:
        """Removes all segments and begins an empty one. Raises OSError."""
        created_ms = self.segments.active.created_ms
        remove_segments(list(self.segments))
        self.take([LogSegment.create(self.context.files, self.directory, offset, created_ms)])

    def take(self, segments: list[LogSegment]) -> None:
        self.segments.reset(segments)
        self.reconfigure(self.config)

    def note_cut(self, offset: int) -> None:
        """The log was cut: it ends at `offset` now."""
        self.truncations += 1
        self.note_uncached_below(offset)
        if self.recovery_point > offset:
            self.recovery_point = offset
            self.context.on_truncated()

    def delete(self, segments: list[LogSegment], now_ms: int) -> None:
        """Has the files of segments that were taken out removed later. Raises OSError."""
        for segment in segments:
            self.remove_later(mark_deleted(segment), now_ms)

    def remove_later(self, paths: list[str], now_ms: int) -> None:
        """Has renamed files removed after file.delete.delay.ms."""
        for path in paths:
            self.context.trash.add(path, now_ms + self.config.file_delete_delay_ms)

    # -- aborted transactions ----------------------------------------------------------------------

    def aborted_in(
        self, offset: int, found: FileRange, log_start_offset: int, log_end_offset: int
    ) -> list[AbortedTxn]:
        """The aborted transactions of a range that was found for `offset`, as in Kafka up to the
        next entry of the offset index. Raises KafkaError(KAFKA_STORAGE_ERROR)."""
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
        """Builds damaged transaction indexes anew from the data. Raises KafkaError."""
        recover_log.mend_aborted(list(self.segments), log_start_offset)
        self.segments.forget_aborted_skips()

    # -- durability --------------------------------------------------------------------------------

    @raises_storage_error
    def begin_flush(self, up_to: int, done: Callable[[], None] = lambda: None) -> None:
        """Makes all records below `up_to` durable; then calls `done`. Raises KafkaError."""
        self._flushes.begin(self, up_to, done)

    def flush(self, up_to: int) -> None:
        """Makes all records below `up_to` durable. Raises OSError."""
        if self.recovery_point < up_to:
            job = FlushJob(self, up_to)
            run_now(job)
            if job.error is not None:
                raise job.error

    def flushed_to(self, offset: int) -> None:
        self.recovery_point = max(self.recovery_point, offset)
        self.on_synced()

    def close_files(self) -> None:
        """Closes the files; they are opened again when they are used."""
        for segment in self.segments:
            segment.file.close()

    def abandon(self) -> None:
        """Closes the files of a log whose directory is about to be renamed. Later errors of its
        users say nothing about the disk, so they are not reported."""
        self.is_abandoned = True
        self.context = replace(self.context, on_failure=no_failure)
        for segment in self.segments:
            segment.abandon()
