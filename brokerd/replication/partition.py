"""One partition on this broker: who leads it, how far its replicas are, what consumers may see.

Pure of sockets and clocks; the log underneath is real. Invariants:
- `advance` alone moves the high watermark, and every change that could move it ends there;
- on the leader the high watermark is the least log end over the maximal in-sync set (what is agreed
  and what is asked for), and stands still while that set is smaller than min.insync.replicas; on a
  follower it is the leader's, as far as the own log reaches;
- where flush.messages asks for a sync, it passes records only when they are synced;
- it never goes back, unless the log itself is cut below it;
- a state is applied only if its topic id is the log's and its version higher than the last one's.
The leader does not shrink the ISR yet (Kafka's `maybeShrinkIsr`): brokers do not fetch from each
other, and `replica.lag.time.max.ms` has no effect.
"""

from collections.abc import Callable, Sequence
from operator import attrgetter

from brokerd.errors import ErrorCode, KafkaError
from brokerd.integer_ranges import INT64_MAX
from brokerd.log.assign_offsets import AppendResult
from brokerd.log.io.flushed_appends import NO_LIMIT, FlushedAppends
from brokerd.log.leader_epoch_file_cache import NO_EPOCH
from brokerd.log.unified_log import UnifiedLog
from brokerd.protocol.records import Buffer, crc_matches, iter_batches
from brokerd.replication.offset_truncation_state import (
    OffsetTruncationState,
    offset_truncation_state,
)
from brokerd.replication.partition_state import PartitionState

UNKNOWN_OFFSET = -1
HIGH_WATERMARK = -1
"""In DeleteRecords: everything that consumers may see."""


TRAFFIC = (
    "bytes_in", "bytes_out", "messages_in", "produces", "fetches", "failed_produces",
    "failed_fetches",
)  # fmt: skip
"""What a partition counts since it is on this broker."""
_traffic_of = attrgetter(*TRAFFIC)


def _nothing() -> None:
    pass


class Follower:
    """What the leader knows of a follower: its log end, and when it last had all of the log."""

    __slots__ = ("caught_up_ms", "fetched_ms", "leader_end_then", "log_end_offset")

    def __init__(self, now_ms: int) -> None:
        self.log_end_offset = UNKNOWN_OFFSET
        self.caught_up_ms = now_ms
        self.fetched_ms = now_ms
        self.leader_end_then = UNKNOWN_OFFSET

    def fetched(self, offset: int, leader_end_offset: int, now_ms: int) -> None:
        """It asked for `offset`: all below is in its log. Reaching the leader's end as of its
        previous fetch counts as caught up at that time."""
        if offset >= leader_end_offset:
            self.caught_up_ms = now_ms
        elif offset >= self.leader_end_then > UNKNOWN_OFFSET:
            self.caught_up_ms = max(self.caught_up_ms, self.fetched_ms)
        self.log_end_offset = offset
        self.leader_end_then = leader_end_offset
        self.fetched_ms = now_ms


class Partition:
    """`listeners` are called when start, high watermark or leadership moved, in the order in which
    they came; a dict, as thousands of long polls come and go. `generation` goes up with each change
    of leader, in-sync replicas or settings, and when it leaves this broker.

    Brokers do not fetch from each other yet: nothing but tests calls `propose_isr`, `record_fetch`,
    `append_fetched` and `truncate_after`, which replication will.
    """

    __slots__ = (
        "_flush", "_followers", "_leader_high_watermark", "_leads_alone", "_maximal_isr",
        "bytes_in", "bytes_out", "failed_fetches", "failed_produces", "fetches", "generation",
        "high_watermark", "index", "is_leader", "leader_epoch", "listeners", "local_id", "log",
        "messages_in", "produces", "state", "synced_to", "topic",
    )  # fmt: skip

    def __init__(
        self, topic: str, index: int, local_id: int, log: UnifiedLog, high_watermark: int = 0
    ) -> None:
        self.topic = topic
        self.index = index
        self.local_id = local_id
        self.log = log
        self.state: PartitionState | None = None
        self.is_leader = self._leads_alone = False
        self.generation = 0
        self.leader_epoch = NO_EPOCH
        self.high_watermark = min(max(high_watermark, log.log_start_offset), log.log_end_offset)
        self.log.high_watermark = self.high_watermark
        self.log.on_truncated = self.advance
        self.log.on_start_moved = self._notify
        self.listeners: dict[Callable[[Partition], None], None] = {}
        self.bytes_in = self.bytes_out = self.messages_in = 0
        self.produces = self.fetches = self.failed_produces = self.failed_fetches = 0
        self.synced_to = NO_LIMIT  # below it nothing waits for the sync of flush.messages
        self._flush: FlushedAppends | None = None
        self._followers: dict[int, Follower] = {}
        self._maximal_isr: frozenset[int] = frozenset()
        self._leader_high_watermark = UNKNOWN_OFFSET

    # -- what the cluster decides ------------------------------------------------------------------

    def apply(self, state: PartitionState, now_ms: int) -> bool:
        """Take in a newer state; whether it was newer and of this topic."""
        if state.topic_id != self.log.topic_id:
            return False
        if self.state is not None and state.version <= self.state.version:
            return False
        leads = state.leader == self.local_id
        if not leads or state.leader_epoch != self.leader_epoch:
            self._followers = {}
        if leads:
            self._follow_replicas(state, now_ms)
        self.state = state
        self.is_leader = leads
        self.generation += 1
        self.leader_epoch = state.leader_epoch
        self._leader_high_watermark = UNKNOWN_OFFSET
        self._set_maximal_isr(frozenset(state.isr))
        if not self.advance():
            self._notify()
        return True

    def _follow_replicas(self, state: PartitionState, now_ms: int) -> None:
        others = [replica for replica in state.replicas if replica != self.local_id]
        self._followers = {id_: self._followers.get(id_) or Follower(now_ms) for id_ in others}

    def propose_isr(self, isr: Sequence[int]) -> None:
        """An in-sync set asked for and not answered yet: until it is, both sets count."""
        if self.state is not None:
            self._set_maximal_isr(frozenset(self.state.isr).union(isr))
            self.advance()

    def _set_maximal_isr(self, isr: frozenset[int]) -> None:
        self._maximal_isr = isr
        self._leads_alone = self.is_leader and isr == {self.local_id}

    def resign(self) -> None:
        """Lead no more, whatever the last state said (the registration was lost, say)."""
        self.is_leader = self._leads_alone = False
        self.generation += 1
        self._notify()

    def leave(self) -> None:
        """Be on this broker no more. Nothing here refers to itself in a cycle from now on: those
        are left to the garbage collector, which does not look at what was frozen."""
        self.resign()
        self.log.on_truncated = self.log.on_start_moved = self.log.local.on_synced = _nothing
        self._flush = None

    # -- as a leader -------------------------------------------------------------------------------

    def append(self, batches: Sequence[Buffer], now_ms: int) -> list[AppendResult]:
        """Appends checked batches, and moves the high watermark: alone in the ISR, the records are
        committed on return. Raises KafkaError: NOT_LEADER_OR_FOLLOWER, KAFKA_STORAGE_ERROR."""
        if not self.is_leader:
            raise self._not_leader()
        log = self.log
        start = log.log_end_offset
        self.produces += len(batches)
        try:
            results = log.append(batches, self.leader_epoch, now_ms)
        finally:  # a large group that failed may have been written in part
            self.messages_in += log.log_end_offset - start
            if log.config.flush_messages < INT64_MAX:
                self._flush = self._flush or FlushedAppends(log, self.advance_or_notify)
                self._flush.appended(self.high_watermark)
            self.advance()
        self.bytes_in += sum(map(len, batches))
        return results

    def delete_records(self, offset: int) -> int:
        """Moves the log start up to `offset` (HIGH_WATERMARK: as far as consumers may see); returns
        it. Raises KafkaError: NOT_LEADER_OR_FOLLOWER, POLICY_VIOLATION where nothing may be
        deleted, OFFSET_OUT_OF_RANGE past the high watermark, KAFKA_STORAGE_ERROR."""
        self.require_leader()
        if "delete" not in self.log.config.cleanup_policy:
            raise KafkaError(
                ErrorCode.POLICY_VIOLATION,
                f"the records of {self.topic}-{self.index} are only compacted, never deleted "
                "(cleanup.policy)",
            )
        self.log.check_end()
        if offset == HIGH_WATERMARK:
            offset = self.high_watermark
        if not 0 <= offset <= self.high_watermark:
            raise KafkaError(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"offset {offset} of {self.topic}-{self.index} is not in 0 to the high watermark "
                f"{self.high_watermark}",
            )
        if offset > self.log.log_start_offset:
            self.log.delete_records_before(offset)
        return self.log.log_start_offset

    def require_leader(self) -> None:
        """Raises KafkaError(NOT_LEADER_OR_FOLLOWER) on a broker that does not lead."""
        if not self.is_leader:
            raise self._not_leader()

    def _not_leader(self) -> KafkaError:
        return KafkaError(
            ErrorCode.NOT_LEADER_OR_FOLLOWER,
            f"broker {self.local_id} does not lead {self.topic}-{self.index}",
        )

    def traffic(self) -> tuple[int, ...]:
        """The counters, in the order of TRAFFIC."""
        return _traffic_of(self)

    @property
    def last_stable_offset(self) -> int:
        """Below it every transaction is decided; the high watermark where none is open."""
        return self.log.last_stable_offset(self.high_watermark)

    @property
    def min_isr(self) -> int:
        """min.insync.replicas, but no more than there are replicas."""
        replicas = len(self.state.replicas) if self.state else 1
        return min(self.log.config.min_insync_replicas, replicas)

    @property
    def is_under_min_isr(self) -> bool:
        """Whether acks=all must be refused: NOT_ENOUGH_REPLICAS."""
        return self.state is None or len(self.state.isr) < self.min_isr

    @property
    def is_at_min_isr(self) -> bool:
        return self.state is not None and len(self.state.isr) == self.min_isr

    @property
    def is_under_replicated(self) -> bool:
        """Whether a replica that should be in sync is not; those being added do not count."""
        state = self.state
        return state is not None and not set(state.replicas) <= {*state.adding, *state.isr}

    @property
    def is_reassigning(self) -> bool:
        return self.state is not None and bool(self.state.adding or self.state.removing)

    def record_fetch(self, follower_id: int, offset: int, now_ms: int) -> None:
        """A follower asks for `offset`, so all below is in its log. Raises KafkaError:
        NOT_LEADER_OR_FOLLOWER, UNKNOWN_TOPIC_OR_PARTITION for a broker that is no replica."""
        self.require_leader()
        follower = self._followers.get(follower_id)
        if follower is None:
            raise KafkaError(
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
                f"broker {follower_id} is no replica of {self.topic}-{self.index}",
            )
        follower.fetched(offset, self.log.log_end_offset, now_ms)
        self.advance()

    def end_offset_for_epoch(self, epoch: int) -> tuple[int, int]:
        """The answer to OffsetForLeaderEpoch: (epoch, its end offset). Raises KafkaError."""
        log = self.log
        log.check_end()
        if epoch == self.leader_epoch:  # no read of the epoch file for the most common query
            return epoch, log.log_end_offset
        return log.epochs.end_offset_for(epoch, log.log_end_offset, self.leader_epoch)

    # -- as a follower -----------------------------------------------------------------------------

    def append_fetched(
        self, view: memoryview, leader_epoch: int, leader_high_watermark: int, now_ms: int
    ) -> None:
        """Appends what the leader of `leader_epoch` sent; a torn batch at the end is left for the
        next fetch. Raises KafkaError: FENCED_LEADER_EPOCH, CORRUPT_MESSAGE for bytes that were
        damaged on the way (nothing was written), and as `UnifiedLog.append_replicated`."""
        if self.is_leader or leader_epoch != self.leader_epoch:
            raise KafkaError(
                ErrorCode.FENCED_LEADER_EPOCH,
                f"{self.topic}-{self.index} does not follow leader epoch {leader_epoch}",
            )
        batches = list(iter_batches(view))
        for header, batch in batches:
            if not crc_matches(header, batch):
                raise KafkaError(
                    ErrorCode.CORRUPT_MESSAGE, f"offset {header.base_offset} came damaged"
                )
        if batches:
            self.log.append_replicated(batches, now_ms)
            self.bytes_in += sum(header.size_bytes for header, _ in batches)
        self._leader_high_watermark = leader_high_watermark
        self.advance()

    def truncate_after(
        self, asked_epoch: int, leader_answer: tuple[int, int]
    ) -> OffsetTruncationState:
        """Cuts the log to where it agrees with the leader's answer to `asked_epoch`. If the result
        is not final, the leader must be asked again. Raises KafkaError."""
        cut = offset_truncation_state(
            asked_epoch,
            leader_answer,
            lambda epoch: self.log.epochs.end_offset_for(epoch, self.log.log_end_offset),
            self.log.log_end_offset,
            self.high_watermark,
        )
        self.log.truncate_to(cut.offset)
        self.advance()
        return cut

    # -- the high watermark ------------------------------------------------------------------------

    def advance(self) -> bool:
        """Moves the high watermark as far as the replicas allow, and then calls the listeners;
        returns whether it moved."""
        before = self.high_watermark
        reached = self._replicated_to()
        if self._flush is not None:
            self.synced_to = self._flush.limit
            reached = min(reached, self.synced_to)
        if reached > self.high_watermark:
            self.high_watermark = reached
        elif self.high_watermark > self.log.log_end_offset:
            self.high_watermark = self.log.log_end_offset
        if self.high_watermark < self.log.log_start_offset:
            self.high_watermark = self.log.log_start_offset
        if self.high_watermark == before:
            return False
        self.log.high_watermark = self.high_watermark
        self._notify()
        return True

    def reconfigured(self) -> None:
        self.generation += 1
        self.advance_or_notify()

    def advance_or_notify(self) -> None:
        """Moves the high watermark, or notifies the listeners that it stays."""
        if not self.advance():  # an acks=1 may wait, also where replicas lag behind
            self._notify()

    def _replicated_to(self) -> int:
        if self._leads_alone:
            log = self.log
            one_is_enough = log.config.min_insync_replicas <= 1 or self.min_isr <= 1
            return log.log_end_offset if one_is_enough else UNKNOWN_OFFSET
        if not self.is_leader:
            return min(self._leader_high_watermark, self.log.log_end_offset)
        if self.is_under_min_isr:
            return UNKNOWN_OFFSET
        ends = [self.log.log_end_offset]
        for replica in self._maximal_isr:
            if replica != self.local_id:
                follower = self._followers.get(replica)
                ends.append(follower.log_end_offset if follower else UNKNOWN_OFFSET)
        return min(ends)

    def _notify(self) -> None:
        if self.listeners:
            for listener in tuple(self.listeners):
                listener(self)
