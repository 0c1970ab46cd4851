"""What a log reads at its first use: its end, its idempotent producers and its leader epochs.

A log opened after a clean stop reads nothing until its first use; then the batches behind the last
index entry are walked, and if they do not end where the log should end, it is recovered as after
an unclean stop. If that takes long (a file is damaged) and the caller must not block, it raises
NotInPageCache, and another thread reads (`background_read`).

The log is passed, not kept: they would refer to each other in a cycle, and those are left to the
garbage collector, which does not look at what was frozen.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from brokerd.log import producer_snapshot
from brokerd.log.io.page_cache import NotInPageCache
from brokerd.log.leader_epochs import LeaderEpochFileCache
from brokerd.log.loading import recovery
from brokerd.log.producer_state import ProducerState
from brokerd.log.segments.background_read import BackgroundRead

if TYPE_CHECKING:
    from brokerd.log.unified_log import UnifiedLog

T = TypeVar("T")


class FirstUse:
    """See the module. `producers` and `epochs` are None until they were read. All methods raise
    OSError; NotInPageCache if not may_block and they would wait for the disk."""

    __slots__ = ("_expired_until_ms", "epochs", "is_end_checked", "producers")

    def __init__(self, *, is_end_checked: bool) -> None:
        self.is_end_checked = is_end_checked
        self.producers: ProducerState | None = None
        self.epochs: LeaderEpochFileCache | None = None
        self._expired_until_ms = -1

    def check_end(self, log: "UnifiedLog", *, may_block: bool) -> None:
        """Checks that the log ends where the checkpoint says; else it is recovered."""
        if self.is_end_checked:
            return
        active = log.local.segments.active
        if active.read_tail(may_block=may_block) == log.log_end_offset:
            self.is_end_checked = True
            return
        snapshot = producer_snapshot.load_before(
            log.directory, log.log_start_offset, active.base_offset
        )
        parts = log.local.segment_snapshots(snapshot[0])
        check = partial(recovery.check_tail, parts, snapshot)
        _read(log, check, partial(self._take_tail, log), may_block=may_block)

    def _take_tail(self, log: "UnifiedLog", tail: recovery.CheckedTail) -> None:
        """The log does not end where the checkpoint says: it ends where its last segment does."""
        local = log.local
        self.close_epochs()
        self.epochs = self.producers = None
        durable_offset = local.recovery_point
        segments = list(local.segments)
        loaded = recovery.take_tail(
            local.context, segments, log.log_start_offset, tail, segments[-1].created_ms
        )
        local.take(loaded.segments)
        local.recovery_point = loaded.recovery_point
        self.is_end_checked = True
        log.take(loaded)
        recovery.warn_of_loss(log.directory, durable_offset, log.log_end_offset)
        local.truncations += 1
        local.context.on_cut()
        log.on_truncated()

    def load_producers(self, log: "UnifiedLog", *, may_block: bool) -> ProducerState:
        """Reads the idempotent producers, from the last snapshot on."""
        if self.producers is None:
            offset, entries = snapshot = producer_snapshot.load_latest(
                log.directory, log.log_start_offset, log.log_end_offset
            )
            if log.log_end_offset - offset > recovery.REPLAY_MAX:
                replay = partial(recovery.replayed, log.local.segment_snapshots(offset), snapshot)
                _read(log, replay, self._take_producers, may_block=may_block)
            else:
                producers = ProducerState(entries)
                if offset < log.log_end_offset:
                    headers = log.local.segments.headers_from(offset)
                    producers.replay(recovery.with_markers(headers))
                self._take_producers(producers)
        assert self.producers is not None
        return self.producers

    def _take_producers(self, producers: ProducerState) -> None:
        self.producers = producers
        producers.expire(self._expired_until_ms)

    def expire_producers(self, until_ms: int) -> None:
        """Forgets producers whose last batch is from `until_ms` or earlier, now or once they are
        read."""
        self._expired_until_ms = until_ms
        if self.producers is not None:
            self.producers.expire(until_ms)

    def load_epochs(self, log: "UnifiedLog", *, may_block: bool) -> LeaderEpochFileCache:
        """Reads the leader epochs, from the batches if their file is damaged or missing."""
        if self.epochs is None:
            start = log.log_start_offset
            context = log.local.context
            epochs = LeaderEpochFileCache(log.directory, context.submit, context.failed)
            if epochs.is_damaged or (not epochs.entries and log.size_bytes):
                read = partial(recovery.epochs_in, log.local.segment_snapshots(start), start)
                _read(log, read, partial(self._take_epochs, epochs), may_block=may_block)
            self.epochs = epochs
        return self.epochs

    def _take_epochs(self, epochs: LeaderEpochFileCache, found: Iterable[tuple[int, int]]) -> None:
        take = epochs.reread(0)
        for epoch, start_offset in found:
            take(epoch, start_offset)
        epochs.save()
        self.epochs = epochs

    def close_epochs(self) -> None:
        """From now on the file of the leader epochs is not written."""
        if self.epochs is not None:
            self.epochs.close()


def _read(
    log: "UnifiedLog", read: Callable[[], T], take: Callable[[T], object], *, may_block: bool
) -> None:
    """Read and apply the result: now if `may_block`, else by another thread (raises
    NotInPageCache); then the result is valid only while the log is the same."""
    if may_block:
        take(read())
        return
    known = log.local.truncations, log.log_start_offset, log.log_end_offset

    def is_void() -> bool:
        now = log.local.truncations, log.log_start_offset, log.log_end_offset
        return log.local.is_abandoned or now != known

    raise NotInPageCache(BackgroundRead(log, read, take, is_void))
