"""What a log reads at its first use: its end, its idempotent producers and its leader epochs.

A log opened after a clean stop reads nothing until its first use; then the batches behind the last
index entry are walked, and if they do not end where the log should end, its last segment is
recovered as after an unclean stop.

The log is passed, not kept: they would refer to each other in a cycle, and those are left to the
garbage collector, which does not look at what was frozen.
"""

from typing import TYPE_CHECKING

from brokerd.log import producer_snapshot
from brokerd.log.leader_epochs import LeaderEpochFileCache
from brokerd.log.loading import recovery
from brokerd.log.producer_state import ProducerState

if TYPE_CHECKING:
    from brokerd.log.unified_log import UnifiedLog


class FirstUse:
    """`producers` and `epochs` are None until they were read. All methods raise OSError."""

    __slots__ = ("_expired_until_ms", "epochs", "is_end_checked", "producers")

    def __init__(self, *, is_end_checked: bool) -> None:
        self.is_end_checked = is_end_checked
        self.producers: ProducerState | None = None
        self.epochs: LeaderEpochFileCache | None = None
        self._expired_until_ms = -1

    def check_end(self, log: "UnifiedLog") -> None:
        """Checks that the log ends where the checkpoint says; else it is recovered."""
        if not self.is_end_checked:
            if log.local.segments.active.read_tail() != log.log_end_offset:
                self._recover(log)
            self.is_end_checked = True

    def _recover(self, log: "UnifiedLog") -> None:
        local = log.local
        self.close_epochs()
        self.epochs = self.producers = None
        durable_offset, active = local.recovery_point, local.segments.active
        loaded = recovery.recover(
            local.context, list(local.segments), log.log_start_offset, active.base_offset,
            active.created_ms,
        )  # fmt: skip
        local.take(loaded.segments)
        local.recovery_point = loaded.recovery_point
        log.take(loaded)
        recovery.warn_of_loss(log.directory, durable_offset, log.log_end_offset)
        local.context.on_cut()
        log.on_truncated()

    def load_producers(self, log: "UnifiedLog") -> ProducerState:
        """Reads the idempotent producers, from the last snapshot on."""
        if self.producers is None:
            offset, entries = producer_snapshot.load_latest(
                log.directory, log.log_start_offset, log.log_end_offset
            )
            producers = ProducerState(entries)
            if offset < log.log_end_offset:
                producers.replay(recovery.with_markers(log.local.segments.headers_from(offset)))
            producers.expire(self._expired_until_ms)
            self.producers = producers
        return self.producers

    def expire_producers(self, until_ms: int) -> None:
        """Forgets producers silent since `until_ms`, now or once they are read."""
        self._expired_until_ms = until_ms
        if self.producers is not None:
            self.producers.expire(until_ms)

    def load_epochs(self, log: "UnifiedLog") -> LeaderEpochFileCache:
        """Reads the leader epochs, from the batches if their file is damaged or missing."""
        if self.epochs is None:
            context = log.local.context
            epochs = LeaderEpochFileCache(log.directory, context.submit, context.failed)
            if epochs.is_damaged or (not epochs.entries and log.size_bytes):
                for _, _, header in log.local.segments.headers_from(log.log_start_offset):
                    epochs.found(header.leader_epoch, header.base_offset)
                epochs.save()
            self.epochs = epochs
        return self.epochs

    def close_epochs(self) -> None:
        """From now on the file of the leader epochs is not written."""
        if self.epochs is not None:
            self.epochs.close()
