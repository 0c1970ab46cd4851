"""The log of one partition: an offset for every record, appended and read.

It consists of `LocalLog` (the files), `ProducerStateManager` and `LeaderEpochFileCache`. Callers
use these directly for what concerns only one of them. A log opened after a clean stop reads nothing
until its first use; then the batches behind the last index entry are walked, and if they do not end
where the log should end, its last segment is recovered as after an unclean stop.

Invariants:
- offsets only grow; the log start is at or below the log end; `high_watermark` is moved by the
  partition only;
- an append is staged, written by one `pwritev`, and only then applied: a failed write changes the
  log neither in memory nor on disk;
- a group of batches is written to one segment as a whole;
- a read returns batches from the one with the offset on, the last maybe cut by `max_bytes`, as a
  range of a file: the records themselves are not read here;
- `is_prepared` is true once the first use has read all it needs; `on_truncated` is called if
  the first use cut the log, `on_start_moved` if records were deleted at its start.
Not thread-safe: all calls come from one thread, which passes the time.
"""

import logging
from collections.abc import Callable, Sequence
from typing import Final
from uuid import UUID

from brokerd.config.log_config import LogConfig
from brokerd.errors import ErrorCode, KafkaError
from brokerd.integer_ranges import INT32_MAX
from brokerd.log import producer_snapshot
from brokerd.log.assign_offsets import AppendResult, stage, stage_replicated
from brokerd.log.end_transaction_marker import read_marker
from brokerd.log.io.open_files import FileRange
from brokerd.log.io.page_cache import NotInPageCache, PendingFilesRead
from brokerd.log.leader_epoch_file_cache import LeaderEpochFileCache
from brokerd.log.loading import recover_log
from brokerd.log.local_log import LocalLog
from brokerd.log.log_context import LogContext, raises_storage_error
from brokerd.log.producer_state_manager import NO_TXN, ProducerStateManager
from brokerd.log.should_roll import should_roll
from brokerd.protocol.records import BatchHeader, Buffer

logger = logging.getLogger(__name__)

BUFFERS_MAX: Final = 1024
"""What one pwritev takes (IOV_MAX)."""


class UnifiedLog:
    """`directory` holds nothing but this log."""

    __slots__ = (
        "_append_time", "_epochs", "_expired_until_ms", "_is_end_checked", "_last_epoch",
        "_producers", "_segments", "config", "directory", "high_watermark", "is_prepared", "local",
        "log_end_offset", "log_start_offset", "on_start_moved", "on_truncated", "partition",
        "topic", "topic_id",
    )  # fmt: skip

    def __init__(
        self,
        context: LogContext,
        directory: str,
        topic: str,
        partition: int,
        topic_id: UUID,
        config: LogConfig,
        loaded: recover_log.LoadedLog,
    ) -> None:
        self.directory = directory
        self.topic = topic
        self.partition = partition
        self.topic_id = topic_id
        self.local = LocalLog(context, directory, f"{topic}-{partition}", config, loaded)
        self._segments = self.local.segments  # for each append and read
        self._last_epoch = -1
        self.on_truncated: Callable[[], object] = lambda: None
        self.on_start_moved: Callable[[], object] = lambda: None
        self.high_watermark = loaded.log_start_offset
        is_recovered = loaded.truncated_bytes is not None
        self._is_end_checked = is_recovered or self._segments.active.size_bytes == 0
        self._producers: ProducerStateManager | None = None
        self._epochs: LeaderEpochFileCache | None = None
        self._expired_until_ms = -1
        self.config = config
        self._append_time = config.is_append_time
        self.take(loaded)

    def take(self, loaded: recover_log.LoadedLog) -> None:
        """Takes the start and the end that loading has found."""
        self.log_start_offset = loaded.log_start_offset
        self.is_prepared = False
        self.log_end_offset = loaded.log_end_offset
        self.local.note_uncached_below(loaded.log_end_offset)
        if loaded.truncated_bytes is not None:
            self.event("recovery", truncated_bytes=loaded.truncated_bytes)
        if loaded.truncated_bytes:
            logger.warning(
                "recovery of %s-%d cut %d bytes that were no whole, intact batch; its log ends at "
                "offset %d now",
                self.topic, self.partition, loaded.truncated_bytes, self.log_end_offset,
            )  # fmt: skip

    def event(self, kind: str, **detail: object) -> None:
        place = {"topic": self.topic, "partition": self.partition}
        self.local.context.on_event(
            kind, {**place, "log_end_offset": self.log_end_offset, **detail}
        )

    def failed(self, error: OSError) -> KafkaError:
        """The KafkaError for an error of the disk, also of a read in another thread."""
        return self.local.failed(error)

    def reconfigure(self, config: LogConfig) -> None:
        self.config = config
        self._append_time = config.is_append_time
        self.local.reconfigure(config)

    @property
    def size_bytes(self) -> int:
        """The bytes of all data files, without indexes."""
        return sum(segment.size_bytes for segment in self._segments)

    @property
    def recovery_point(self) -> int:
        return self.local.recovery_point

    def files_of_first_use(self) -> PendingFilesRead:
        """The files that `prepare_first_use` will read."""
        return PendingFilesRead(self.directory, self._segments.active.base_offset)

    # -- first use ---------------------------------------------------------------------------------

    @raises_storage_error
    def prepare_first_use(self) -> None:
        """Reads all that the first use needs. Raises KafkaError(KAFKA_STORAGE_ERROR)."""
        self.check_end()
        self._load_producers()
        self._load_epochs()
        self.is_prepared = True

    @raises_storage_error
    def check_end(self) -> None:
        """Checks that the log ends where the checkpoint says; else it is recovered. Raises as
        `prepare_first_use`."""
        if not self._is_end_checked:
            if self._segments.active.read_tail() != self.log_end_offset:
                self._recover()
            self._is_end_checked = True

    def _recover(self) -> None:
        """Recovers the last segment, as after an unclean stop."""
        if self._epochs is not None:
            self._epochs.close()
        self._epochs = self._producers = None
        local, active = self.local, self._segments.active
        durable_offset = local.recovery_point
        loaded = recover_log.recover_log(
            local.context, list(self._segments), self.log_start_offset, active.base_offset,
            active.created_ms,
        )  # fmt: skip
        local.take(loaded.segments)
        local.recovery_point = loaded.recovery_point
        self.take(loaded)
        recover_log.warn_of_loss(self.directory, durable_offset, self.log_end_offset)
        local.truncations += 1
        local.context.on_truncated()
        self.on_truncated()

    def _load_producers(self) -> ProducerStateManager:
        """Reads the idempotent producers, from the last snapshot on."""
        if self._producers is None:
            offset, entries = producer_snapshot.load_latest(
                self.directory, self.log_start_offset, self.log_end_offset
            )
            producers = ProducerStateManager(entries)
            if offset < self.log_end_offset:
                producers.replay(recover_log.with_markers(self._segments.headers_from(offset)))
            producers.expire(self._expired_until_ms)
            self._producers = producers
        return self._producers

    def _load_epochs(self) -> LeaderEpochFileCache:
        """Reads the leader epochs, from the batches if their file is damaged or missing."""
        if self._epochs is None:
            context = self.local.context
            epochs = LeaderEpochFileCache(self.directory, context.submit, context.failed)
            if epochs.is_damaged or (not epochs.entries and self.size_bytes):
                for _, _, header in self._segments.headers_from(self.log_start_offset):
                    epochs.found(header.leader_epoch, header.base_offset)
                epochs.save()
            self._epochs = epochs
        return self._epochs

    @property
    @raises_storage_error
    def producers(self) -> ProducerStateManager:
        self.check_end()
        return self._load_producers()

    @property
    @raises_storage_error
    def epochs(self) -> LeaderEpochFileCache:
        return self._load_epochs()

    def last_stable_offset(self, high_watermark: int) -> int:
        """Below it every transaction is complete. Raises KafkaError(KAFKA_STORAGE_ERROR)."""
        producers = self._producers
        if producers is None:
            producers = self.producers
            high_watermark = min(high_watermark, self.log_end_offset)
        unstable = producers.first_unstable(high_watermark)
        if unstable == NO_TXN or unstable >= high_watermark:
            return high_watermark
        return max(unstable, self.log_start_offset)

    def remove_expired_producers(self, until_ms: int) -> None:
        """Forgets producers whose last batch is of `until_ms` or earlier, now or once they are
        read."""
        self._expired_until_ms = until_ms
        if self._producers is not None:
            self._producers.expire(until_ms)

    # -- append ------------------------------------------------------------------------------------

    def append(
        self, batches: Sequence[Buffer], leader_epoch: int, now_ms: int
    ) -> list[AppendResult]:
        """Appends a producer's batches, which `validate_batch` has passed. Offsets and
        epoch are written into the (writable) views. A refused batch has an error in its result.
        KafkaError(KAFKA_STORAGE_ERROR): nothing was written; of a group too large for one write,
        some of the first batches may have been."""
        try:
            if not self.is_prepared:
                self.prepare_first_use()
            return self._append(batches, leader_epoch, now_ms)
        except OSError as error:
            raise self.local.failed(error) from error

    def _append(
        self, batches: Sequence[Buffer], leader_epoch: int, now_ms: int
    ) -> list[AppendResult]:
        if len(batches) > BUFFERS_MAX:
            first = self._append(batches[:BUFFERS_MAX], leader_epoch, now_ms)
            return first + self._append(batches[BUFFERS_MAX:], leader_epoch, now_ms)
        producers = self._producers or self.producers
        staged = stage(
            batches, self.log_end_offset, leader_epoch, producers,
            now_ms if self._append_time else -1,
        )  # fmt: skip
        if not staged.rows:
            return staged.results
        if should_roll(self.local, staged, now_ms):
            if (
                staged.size_bytes > self.config.segment_bytes
                or staged.next_offset - 1 - self.log_end_offset > INT32_MAX
            ):
                return self._append_oversized(batches, leader_epoch, now_ms)
            self.roll(now_ms)
        if leader_epoch != self._last_epoch:
            self._begin_epoch(leader_epoch, self.log_end_offset)
        self.local.append(staged, self.log_end_offset)
        if staged.producers:
            producers.commit(staged.producers)
        self.log_end_offset = staged.next_offset
        return staged.results

    def _begin_epoch(self, epoch: int, start_offset: int) -> None:
        self.epochs.assign(epoch, start_offset)
        self._last_epoch = epoch

    def _append_oversized(
        self, batches: Sequence[Buffer], leader_epoch: int, now_ms: int
    ) -> list[AppendResult]:
        """Appends a group that is larger than a segment, in bytes or offsets, one by one; a batch
        larger than a segment is refused."""
        if len(batches) == 1:
            error = ErrorCode.RECORD_LIST_TOO_LARGE
            return [AppendResult(-1, -1, -1, error, False)]
        return [
            result for batch in batches for result in self._append([batch], leader_epoch, now_ms)
        ]

    @raises_storage_error
    def append_replicated(self, batches: Sequence[tuple[BatchHeader, Buffer]], now_ms: int) -> None:
        """Appends a leader's batches unchanged; the caller has checked their CRC. Raises KafkaError
        as `append`, and OFFSET_OUT_OF_RANGE for an offset below the log end: the caller has to
        truncate first."""
        if not self.is_prepared:
            self.prepare_first_use()
        if batches[0][0].base_offset < self.log_end_offset:
            raise KafkaError(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"offset {batches[0][0].base_offset} is before the log end {self.log_end_offset}",
            )
        staged = stage_replicated(batches)
        if should_roll(self.local, staged, now_ms):
            self.roll(now_ms, batches[0][0].base_offset)
        for header, _ in batches:
            if header.leader_epoch != self._last_epoch:
                self._begin_epoch(header.leader_epoch, header.base_offset)
        producers = self.producers
        self.local.append(staged, self.log_end_offset)
        self.log_end_offset = staged.next_offset
        aborted = producers.replay(
            (header, read_marker(header, memoryview(view)) if header.is_control else None)
            for header, view in batches
        )
        if aborted:
            active = self._segments.active
            active.set_aborted([*active.aborted, *aborted], len(active.aborted))

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
        """The batches from the one that holds `offset` on, all below the offset `up_to`. At most
        `max_bytes`, which may cut the last one, but with `min_one_batch` at least one batch. None:
        nothing there yet. The range is pinned: release it. Raises KafkaError: OFFSET_OUT_OF_RANGE,
        or KAFKA_STORAGE_ERROR; NotInPageCache if not may_block and it would wait for the disk."""
        try:
            if not self._is_end_checked:
                if not may_block:
                    raise NotInPageCache(self.files_of_first_use())
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
                may_block=may_block or offset >= self.local.cached_from_offset,
            )  # fmt: skip
        except NotInPageCache:
            # Pages of this log have left the page cache: later ones may have, too.
            self.local.note_uncached_below(self.log_end_offset)
            raise
        except OSError as error:
            raise self.local.failed(error) from error

    @raises_storage_error
    def bytes_below(self, offset: int, up_to: int, found: FileRange | None) -> int | None:
        """The number of bytes from the batch with `offset` up to the offset `up_to`; None if that
        is in a later segment, which one read does not reach. `found` is the result of `read` for
        them: with it this does not wait for the disk. Raises KafkaError(KAFKA_STORAGE_ERROR)."""
        return self._segments.bytes_below(offset, up_to, self.log_end_offset, found)

    def aborted_transactions(self, offset: int, found: FileRange) -> list[tuple[int, int]]:
        """(producer id, first offset) of the aborted transactions in a range that `read` found, and
        up to the next entry of the offset index. Raises KafkaError(KAFKA_STORAGE_ERROR)."""
        aborted = self.local.aborted_in(offset, found, self.log_start_offset, self.log_end_offset)
        return [(each.producer_id, each.first_offset) for each in aborted]

    # -- roll and cut ------------------------------------------------------------------------------

    @raises_storage_error
    def roll(self, now_ms: int, first_offset: int = 0) -> None:
        """Begins a segment at the log end, or `first_offset` if that is higher. KafkaError."""
        active = self._segments.active
        base_offset = max(self.log_end_offset, first_offset)
        if active.size_bytes == 0 and active.base_offset == base_offset:
            return
        active.close_indexes()
        self._save_snapshot()
        self.local.add_segment(base_offset, now_ms)
        self.event("roll", base_offset=base_offset)
        self.local.begin_flush(self.log_end_offset)

    def _save_snapshot(self) -> None:
        bases = {segment.base_offset for segment in self._segments}
        producer_snapshot.save(self.directory, self.log_end_offset, self.producers.entries, bases)

    @raises_storage_error
    def truncate_to(self, offset: int) -> None:
        """Cuts off the batch with `offset` and all after it. Raises KafkaError."""
        self.check_end()
        if offset >= self.log_end_offset:
            return
        if offset <= self.log_start_offset:
            self.start_at(offset)
            return
        self._set_end(self.local.truncate_to(offset))

    @raises_storage_error
    def start_at(self, offset: int) -> None:
        """Removes all records and goes on, empty, at `offset`. Raises KafkaError."""
        self.local.start_at(offset)
        self._is_end_checked = True
        self.log_start_offset = offset
        self._set_end(offset)

    def _set_end(self, offset: int) -> None:
        self.log_end_offset = offset
        self.local.note_cut(offset)
        self.epochs.truncate_end(offset)
        producer_snapshot.remove_after(self.directory, offset)
        self._producers = None
        self.is_prepared = False
        self._last_epoch = -1
        self.event("truncate")

    @raises_storage_error
    def delete_records_before(self, offset: int) -> None:
        """Moves the log start to `offset` if that is higher. Segments before it are deleted by the
        next retention. `offset` must not be above the high watermark. Raises
        KafkaError(KAFKA_STORAGE_ERROR)."""
        if offset > self.log_start_offset:
            self.log_start_offset = min(offset, self.log_end_offset)
            self.epochs.truncate_start(self.log_start_offset)
            self.on_start_moved()

    # -- closing -----------------------------------------------------------------------------------

    def flush(self) -> None:
        """Makes all records durable. Raises OSError."""
        self.local.flush(self.log_end_offset)

    def finish_writing(self) -> bool:
        """Writes pending index entries; returns whether anything is to be synced. OSError."""
        if not self._is_end_checked:
            return False
        self._segments.active.close_indexes()
        if self._producers is not None:
            self._save_snapshot()
        return self.recovery_point < self.log_end_offset

    def close(self) -> None:
        """Close cleanly: afterwards the recovery point is the log end. Raises OSError."""
        if self.finish_writing():
            self.flush()
        self.local.close_files()

    def abandon(self) -> None:
        """Close the files of a log that is about to be renamed away."""
        if self._epochs is not None:
            self._epochs.close()
        self.local.abandon()
