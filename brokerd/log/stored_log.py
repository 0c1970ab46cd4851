"""The log of one partition as it lies on disk: rolling, cutting, making it durable.

Invariants:
- offsets only grow; the log start is at or below the log end; what lies below `recovery_point` is
  durable and never checked again;
- the last segment is the active one, the only one written to;
What its first use reads is in `lazy_log`, appending and reading in `partition_log`, what compaction
asks in `cleanable_log`. Not thread-safe: all calls come from one thread, which passes the time.
"""

from collections.abc import Callable
from dataclasses import replace
from uuid import UUID

from brokerd.config.log_config import LogConfig
from brokerd.log import producer_snapshot, retention
from brokerd.log.context import LogContext, no_failure, raises_storage_error, run_now
from brokerd.log.io.flush import Flushes, FlushJob
from brokerd.log.loading.lazy_log import LazyLog
from brokerd.log.loading.recovery import LoadedLog
from brokerd.log.segments.removal import mark_deleted, remove_segments
from brokerd.log.segments.segment import Segment
from brokerd.log.segments.segment_list import SegmentList


class StoredLog(LazyLog):
    """See the module. `directory` holds nothing but this log."""

    __slots__ = ("_flushes",)

    def __init__(
        self,
        context: LogContext,
        directory: str,
        topic: str,
        partition: int,
        topic_id: UUID,
        config: LogConfig,
        loaded: LoadedLog,
    ) -> None:
        super().__init__(context, directory, topic, partition, topic_id, config, loaded)
        self._flushes = Flushes(context.submit)

    # -- roll --------------------------------------------------------------------------------------

    def _is_old(self, timestamp_ms: int, now_ms: int) -> bool:
        """Whether a batch of that time (-1: it has none) comes too late for the active segment,
        which goes by the time of its own first batch as long as that has one (LogSegment)."""
        first_ms = self._segments.active.first_timestamp_ms
        if first_ms is None:
            first_ms = self._segments.active.first_timestamp()
        if first_ms >= 0:
            age_ms = timestamp_ms - first_ms
        else:
            age_ms = now_ms - self._segments.active.created_ms
        return age_ms > self.config.longest_segment_ms - self._jitter_ms

    @raises_storage_error
    def roll(self, now_ms: int, first_offset: int = 0) -> None:
        """Close the active segment and begin one at the log end, or at the first offset that will
        be in it, if that lies further. Raises KafkaError."""
        active = self._segments.active
        base_offset = max(self.log_end_offset, first_offset)
        if active.size_bytes == 0 and active.base_offset == base_offset:
            return
        active.close_indexes()
        self._save_snapshot()
        self._use(Segment.create(self._context.files, self.directory, base_offset, now_ms))
        self._event("roll", base_offset=base_offset)
        self.begin_flush(base_offset)

    def _save_snapshot(self) -> None:
        bases = {segment.base_offset for segment in self._segments}
        producer_snapshot.save(self.directory, self.log_end_offset, self.producers.entries, bases)

    def _use(self, segment: Segment) -> None:
        segment.index_interval_bytes = self.config.index_interval_bytes
        self._segments.add(segment)
        self._draw_jitter()

    # -- cutting -----------------------------------------------------------------------------------

    @raises_storage_error
    def truncate_to(self, offset: int) -> None:
        """Cut off the batch that holds `offset` and all behind it. Raises KafkaError."""
        self.check_end()
        if offset >= self.log_end_offset:
            return
        if offset <= self.log_start_offset:
            self.start_at(offset)
            return
        remove_segments(self._segments.drop_after(offset))
        self._set_end(self._segments.active.truncate_to(offset))

    @raises_storage_error
    def start_at(self, offset: int) -> None:
        """Drop everything and go on, empty, at `offset`. Raises KafkaError."""
        created_ms = self._segments.active.created_ms
        remove_segments(list(self._segments))
        segment = Segment.create(self._context.files, self.directory, offset, created_ms)
        self._segments = SegmentList([segment])
        self._ready = True
        self.log_start_offset = offset
        self._set_end(offset)
        self.reconfigure(self.config)

    def _set_end(self, offset: int) -> None:
        self.truncations += 1
        self.log_end_offset = offset
        self.cached_from_offset, self._mark_offset = offset, offset
        self.epochs.truncate_end(offset)
        producer_snapshot.remove_after(self.directory, offset)
        self._producers = None
        self.is_loaded = False
        self._last_epoch = -1
        if self.recovery_point > offset:
            self.recovery_point = offset
            self._context.on_cut()
        self._event("truncate")

    @raises_storage_error
    def delete_records_before(self, offset: int) -> int:
        """Move the log start to `offset` if that is further; returns the log start.

        Segments before it go with the next retention. The caller keeps `offset` at or below the
        high watermark. Raises KafkaError(KAFKA_STORAGE_ERROR).
        """
        if offset > self.log_start_offset:
            self.log_start_offset = min(offset, self.log_end_offset)
            self.epochs.truncate_start(self.log_start_offset)
        return self.log_start_offset

    @raises_storage_error
    def apply_retention(
        self, now_ms: int, high_watermark: int, *, may_block: bool = True
    ) -> list[int]:
        """Let go the segments that retention allows; returns their base offsets.

        Raises KafkaError(KAFKA_STORAGE_ERROR); NotInPageCache, if not may_block, where that takes
        long.
        """
        old_before_ms = now_ms - self.config.retention_ms if self.config.retention_ms >= 0 else -1
        reasons = retention.expired(
            retention.ages(
                self._segments, self.log_end_offset, old_before_ms, may_block=may_block
            ), self.config,
            now_ms=now_ms, log_size_bytes=self.size_bytes, log_start_offset=self.log_start_offset,
            high_watermark=high_watermark,
        )  # fmt: skip
        if not reasons:
            return []
        if len(reasons) == len(self._segments) and not self.is_loaded:
            self.load(may_block=may_block)  # what is closed must end where it is said to end
            known_end = min(high_watermark, self.log_end_offset)  # it may have cut what is counted
            return self.apply_retention(now_ms, known_end, may_block=may_block)
        dropped = self._drop_oldest(len(reasons), now_ms)
        deleted = [segment.base_offset for segment in dropped]
        size_bytes = sum(segment.size_bytes for segment in dropped)
        self._event("retention", segments=deleted, reasons=reasons, size_bytes=size_bytes)
        return deleted

    def _drop_oldest(self, count: int, now_ms: int) -> list[Segment]:
        if count == len(self._segments):
            self.roll(now_ms)
        dropped = self._segments.drop_first(count)
        self.delete_records_before(self._segments[0].base_offset)
        due_ms = now_ms + self.config.file_delete_delay_ms
        for segment in dropped:
            for path in mark_deleted(segment):
                self._context.trash.add(path, due_ms)
        return dropped

    def expire_producers(self, until_ms: int) -> None:
        """Forget idempotent producers whose last batch is of `until_ms` or earlier."""
        self._expired_until_ms = until_ms
        if self._producers is not None:
            self._producers.expire(until_ms)

    # -- durability --------------------------------------------------------------------------------

    def segments_between(self, start_offset: int, end_offset: int) -> list[Segment]:
        """The segments that hold offsets in [start, end)."""
        return self._segments.between(start_offset, end_offset)

    @raises_storage_error
    def begin_flush(self, up_to: int, done: Callable[[], None] = lambda: None) -> None:
        """Have all below `up_to` made durable, in its own time. Raises KafkaError."""
        self._flushes.begin(self, up_to, done)

    def flush(self) -> None:
        """Make everything written so far durable. Raises OSError."""
        if self.recovery_point < self.log_end_offset:
            job = FlushJob(self, self.log_end_offset)
            run_now(job)
            if job.error is not None:
                raise job.error

    def flush_failed(self, error: OSError) -> None:
        """Take note that something could not be made durable: the disk is not to be trusted."""
        self._context.failed(error)

    def flushed_to(self, offset: int) -> None:
        """Take note that all below `offset` is durable."""
        self.recovery_point = max(self.recovery_point, min(offset, self.log_end_offset))
        self.on_synced()

    def close(self) -> None:
        """Close cleanly: afterwards the recovery point is the log end. Raises OSError."""
        if self.finish_writing():
            self.flush()
        self.close_files()

    def finish_writing(self) -> bool:
        """Write what is in memory only; whether anything is to be synced then. Raises OSError."""
        if not self._ready:
            return False
        self._segments.active.close_indexes()
        if self._producers is not None:
            self._save_snapshot()
        return self.recovery_point < self.log_end_offset

    def close_files(self) -> None:
        """Close what is open; it opens again where it is needed."""
        for segment in self._segments:
            segment.file.close()

    def abandon(self) -> None:
        """Close the files of a log that is about to be renamed away. Who still has it in hand may
        look for them where they were: that says nothing about the disk."""
        self.is_abandoned = True
        self._context = replace(self._context, on_failure=no_failure)
        self._close_epochs()
        for segment in self._segments:
            segment.abandon()
