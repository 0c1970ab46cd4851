"""The log of one partition as it was loaded: what is known without a look at its data, and what its
first use reads.

Invariants:
- a log opened after a clean stop reads nothing until its first use; then the batches behind the
  last index entry are walked, and if they do not end where the log should end, it is recovered as
  after an unclean stop;
- `is_loaded` once that, the idempotent producers and the leader epochs are read;
- `high_watermark` is moved by the partition only; `on_truncated` is called when the first use cuts,
  `on_synced` when more is durable.

If the first use takes long (a file is damaged) and the caller must not block, it raises
NotInPageCache, and another thread reads (`background_read`). Not thread-safe: all calls come from
one thread.
"""

import logging
from collections.abc import Callable, Iterable
from functools import partial
from typing import TypeVar
from uuid import UUID

from brokerd.config.log_config import LogConfig
from brokerd.log import producer_snapshot
from brokerd.log.context import LogContext, raises_storage_error
from brokerd.log.io.page_cache import NotInPageCache, PendingFilesRead
from brokerd.log.leader_epochs import LeaderEpochFileCache
from brokerd.log.loading import recovery
from brokerd.log.producer_state import NO_TXN, ProducerState
from brokerd.log.segments.background_read import BackgroundRead, SegmentSnapshot
from brokerd.log.segments.segment_list import SegmentList

logger = logging.getLogger(__name__)

T = TypeVar("T")


class LazyLog:
    """See the module. `directory` holds nothing but this log."""

    __slots__ = (
        "_append_time", "_context", "_epochs", "_expired_until_ms", "_jitter_ms",
        "_last_epoch", "_mark_offset", "_producers", "_ready", "_segments",
        "_since_mark_bytes", "cached_from_offset", "config", "directory", "high_watermark",
        "is_abandoned", "is_loaded", "log_end_offset", "log_start_offset", "on_synced",
        "on_truncated", "partition", "recovery_point", "topic", "topic_id", "truncations",
    )  # fmt: skip

    def __init__(
        self,
        context: LogContext,
        directory: str,
        topic: str,
        partition: int,
        topic_id: UUID,
        config: LogConfig,
        loaded: recovery.LoadedLog,
    ) -> None:
        self._context = context
        self.directory = directory
        self.topic = topic
        self.partition = partition
        self.topic_id = topic_id
        self._epochs: LeaderEpochFileCache | None = None
        self._producers: ProducerState | None = None
        self._expired_until_ms = -1
        self._last_epoch = -1
        self.truncations = 0
        self.is_abandoned = False
        self.on_truncated: Callable[[], object] = lambda: None
        self.on_synced: Callable[[], object] = lambda: None
        self.high_watermark = loaded.log_start_offset
        self._take(loaded)
        self.reconfigure(config)

    def _take(self, loaded: recovery.LoadedLog) -> None:
        self._segments = SegmentList(loaded.segments)
        self.log_start_offset = loaded.log_start_offset
        self.log_end_offset = loaded.log_end_offset
        self.recovery_point = loaded.recovery_point
        self._ready = loaded.truncated_bytes is not None or self._segments.active.size_bytes == 0
        self.is_loaded = False
        self.cached_from_offset = self._mark_offset = loaded.log_end_offset
        self._since_mark_bytes = 0
        if loaded.truncated_bytes is not None:
            self._event("recovery", truncated_bytes=loaded.truncated_bytes)
        if loaded.truncated_bytes:
            logger.warning(
                "recovery of %s-%d cut %d bytes that were no whole, intact batch; its log ends at "
                "offset %d now",
                self.topic, self.partition, loaded.truncated_bytes, self.log_end_offset,
            )  # fmt: skip

    def _event(self, kind: str, **detail: object) -> None:
        place: dict[str, object] = {"topic": self.topic, "partition": self.partition}
        self._context.on_event(kind, {**place, "log_end_offset": self.log_end_offset, **detail})

    def reconfigure(self, config: LogConfig) -> None:
        """Obey other settings from the next append on."""
        self.config = config
        self._append_time = config.is_append_time
        for segment in self._segments:
            segment.index_interval_bytes = config.index_interval_bytes
        self._draw_jitter()

    def _draw_jitter(self) -> None:
        """Spread time-based rolls; the same for one segment whenever it is asked."""
        self._jitter_ms = self.config.jitter_ms(
            f"{self.topic}-{self.partition}-{self._segments.active.base_offset}"
        )

    @property
    def segment_count(self) -> int:
        """How many segments there are, the active one among them."""
        return len(self._segments)

    @property
    def size_bytes(self) -> int:
        """The bytes of all data files, without indexes."""
        return sum(segment.size_bytes for segment in self._segments)

    # -- first use ---------------------------------------------------------------------------------

    def first_use(self) -> PendingFilesRead:
        """What `load` will read."""
        return PendingFilesRead(self.directory, self._segments.active.base_offset)

    @raises_storage_error
    def load(self, *, may_block: bool = True) -> None:
        """Do what is put off until the first use. Raises KafkaError(KAFKA_STORAGE_ERROR); and
        NotInPageCache if not may_block and it would wait for the disk."""
        self.check_end(may_block=may_block)
        self._load_producers(may_block=may_block)
        self._load_epochs(may_block=may_block)
        self.is_loaded = True

    @raises_storage_error
    def check_end(self, *, may_block: bool = True) -> None:
        """See at first use whether the log ends where it is said to end. Raises as `load`."""
        if self._ready:
            return
        active = self._segments.active
        if active.read_tail(may_block=may_block) == self.log_end_offset:
            self._ready = True
            return
        snapshot = producer_snapshot.load_before(
            self.directory, self.log_start_offset, active.base_offset
        )
        check = partial(recovery.check_tail, self._parts(snapshot[0]), snapshot)
        self._read(check, self._take_tail, may_block=may_block)

    def _take_tail(self, tail: recovery.CheckedTail) -> None:
        self._close_epochs()
        self._epochs = self._producers = None
        durable_offset = self.recovery_point
        args = self._context, list(self._segments), self.log_start_offset
        self._take(recovery.take_tail(*args, tail, self._segments.active.created_ms))
        recovery.warn_of_loss(self.directory, durable_offset, self.log_end_offset)
        self.truncations += 1
        self.reconfigure(self.config)
        self._context.on_cut()
        self.on_truncated()

    @property
    def producers(self) -> ProducerState:
        """The state of idempotent producers, from the last snapshot on at first append."""
        return self._load_producers(may_block=True)

    def _load_producers(self, *, may_block: bool) -> ProducerState:
        if self._producers is None:
            offset, entries = snapshot = producer_snapshot.load_latest(
                self.directory, self.log_start_offset, self.log_end_offset
            )
            if self.log_end_offset - offset > recovery.REPLAY_MAX:
                replay = partial(recovery.replayed, self._parts(offset), snapshot)
                self._read(replay, self._take_producers, may_block=may_block)
            else:
                producers = ProducerState(entries)
                if offset < self.log_end_offset:
                    headers = self._segments.headers_from(offset)
                    producers.replay(recovery.with_markers(headers))
                self._take_producers(producers)
        assert self._producers is not None
        return self._producers

    def _take_producers(self, producers: ProducerState) -> None:
        self._producers = producers
        producers.expire(self._expired_until_ms)

    @property
    @raises_storage_error
    def epochs(self) -> LeaderEpochFileCache:
        return self._load_epochs(may_block=True)

    @raises_storage_error
    def check_epochs(self, *, may_block: bool) -> None:
        """Have the leader epochs read. Raises as `load`."""
        self._load_epochs(may_block=may_block)

    def _load_epochs(self, *, may_block: bool) -> LeaderEpochFileCache:
        if self._epochs is None:
            start = self.log_start_offset
            epochs = LeaderEpochFileCache(
                self.directory, self._context.submit, self._context.failed
            )
            if epochs.is_damaged or (not epochs.entries and self.size_bytes):
                read = partial(recovery.epochs_in, self._parts(start), start)
                self._read(read, partial(self._take_epochs, epochs), may_block=may_block)
            self._epochs = epochs
        return self._epochs

    def _take_epochs(self, epochs: LeaderEpochFileCache, found: Iterable[tuple[int, int]]) -> None:
        """Have leader epochs that were read from the batches."""
        take = epochs.reread(0)
        for epoch, start_offset in found:
            take(epoch, start_offset)
        epochs.save()
        self._epochs = epochs

    def _close_epochs(self) -> None:
        if self._epochs is not None:
            self._epochs.close()

    def _parts(self, offset: int) -> list[SegmentSnapshot]:
        """The segments from the one on that holds an offset, for any thread."""
        return [SegmentSnapshot(each) for each in self._segments.from_offset(offset)]

    def _read(self, read: Callable[[], T], take: Callable[[T], object], *, may_block: bool) -> None:
        """Read for the first use and apply the result: now if `may_block`, else by another thread
        (raises NotInPageCache); then the result is valid only while the log is the same."""
        if may_block:
            take(read())
            return
        known = self.truncations, self.log_start_offset, self.log_end_offset

        def is_void() -> bool:
            now = self.truncations, self.log_start_offset, self.log_end_offset
            return self.is_abandoned or now != known

        raise NotInPageCache(BackgroundRead(self, read, take, is_void))

    # -- what it says ------------------------------------------------------------------------------

    @property
    def latest_epoch(self) -> int:
        """The leader epoch of the last batch; -1 in an empty log."""
        return self.epochs.latest

    @property
    def epoch_at_start(self) -> int:
        """The leader epoch that the log starts with; -1 where it is not known."""
        first = next(iter(self.epochs.entries), None)
        return first[0] if first and first[1] <= self.log_start_offset else -1

    def end_offset_for_epoch(self, epoch: int) -> tuple[int, int]:
        """(largest epoch <= `epoch` known here, where it ended); (-1, -1) if unknown."""
        return self.epochs.end_offset_for(epoch, self.log_end_offset)

    @property
    def starts_inside(self) -> bool:
        """Whether the log starts behind where its first segment does."""
        return self.log_start_offset > self._segments[0].base_offset

    def last_stable_offset(self, high_watermark: int) -> int:
        """Below it every transaction is decided. Raises KafkaError(KAFKA_STORAGE_ERROR)."""
        producers = self._producers
        if producers is None:
            producers = self._known_producers()
            high_watermark = min(high_watermark, self.log_end_offset)
        unstable = producers.first_unstable(high_watermark)
        if unstable == NO_TXN or unstable >= high_watermark:
            return high_watermark
        return max(unstable, self.log_start_offset)

    @raises_storage_error
    def _known_producers(self) -> ProducerState:
        self.check_end()
        return self.producers
