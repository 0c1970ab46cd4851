"""The classic group coordinator of one partition of `__consumer_offsets`, without I/O (Kafka's
GroupCoordinatorShard).

A runtime passes it events, each with the time, and carries out the `Effects` that it returns:

    requests   heartbeat; handle, with a function of join_group, sync_group, leave_group,
               offset_commit or delete_groups
    time       tick, due at `next_deadline_ms`
    log        write_done, write_failed or write_timed_out for each `Write` of the effects: of the
               appended ones in order
    loading    every record of the partition is replayed into `store`; then loaded
    leadership resign: requests that wait are answered NOT_COORDINATOR

Joins, heartbeats and timers change memory only. A record becomes visible (is replayed) when
`write_done` says that the high watermark has passed it.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import replace
from typing import Concatenate, ParamSpec

from brokerd.config.group_coordinator_config import GroupCoordinatorConfig
from brokerd.coordinator.group import delayed_join, leave_group, offset_expiration, sync_group
from brokerd.coordinator.group.coordinator_context import (
    EventContext,
    PartitionGroups,
    ignore_outcome,
)
from brokerd.coordinator.group.coordinator_timer import Deadline, Timer
from brokerd.coordinator.group.group_coordinator_record_serde import (
    GroupsRecord,
    OffsetRecord,
    OffsetValue,
)
from brokerd.coordinator.group.group_metadata import Group
from brokerd.coordinator.group.group_states import Event, GroupState
from brokerd.coordinator.group.group_store import GroupStore
from brokerd.coordinator.group.heartbeat import heartbeat, renew_session
from brokerd.coordinator.group.member_memory_limit import MemberMemory
from brokerd.coordinator.group.messages import (
    Effects,
    GroupDescription,
    GroupListing,
    HeartbeatRequest,
    JoinReply,
    SyncReply,
)
from brokerd.errors import ErrorCode
from brokerd.topic_partition import TopicPartition

P = ParamSpec("P")
DUE_MAX = 200
"""Deadlines that one tick handles, so that no tick takes long; the next tick is due at once."""


class GroupCoordinatorShard:
    """One per partition led; not thread-safe, called from one loop."""

    def __init__(
        self,
        config: GroupCoordinatorConfig,
        bytes_of_all_coordinators: Callable[[], int] | None = None,
    ) -> None:
        """`bytes_of_all_coordinators`: the sum of `held_bytes` of the broker's coordinators."""
        self._state = PartitionGroups(config, MemberMemory(bytes_of_all_coordinators))

    @property
    def held_bytes(self) -> int:
        return self._state.member_memory.size_bytes

    # Loading

    @property
    def store(self) -> GroupStore:
        """The durable state; while loading, the caller replays the partition's records into it."""
        return self._state.store

    def loaded(self, now_ms: int) -> Effects:
        """All records were replayed: makes the groups of them and starts every session anew."""
        state, context = self._state, EventContext(self._state, now_ms)
        for group_id in state.store.group_ids():
            group = Group.from_stored(
                group_id, state.store.groups.get(group_id), state.member_memory
            )
            state.groups[group_id] = group
            for member in group.members.values():
                renew_session(context, group, member)
            if len(group.members) > state.config.size_max:
                delayed_join.prepare_rebalance(context, group)
        check_ms = state.config.offsets_retention_check_ms
        state.deadlines.set(Deadline(Timer.OFFSETS_SWEEP), now_ms + check_ms)
        return context.effects

    # Requests

    def handle(
        self, now_ms: int, handler: Callable[Concatenate[EventContext, P], None], *args: P.args,
        **kwargs: P.kwargs,
    ) -> Effects:  # fmt: skip
        """Carries out a request: `handler` is the function of its module, as `join_group.join`."""
        context = EventContext(self._state, now_ms)
        handler(context, *args, **kwargs)
        return context.effects

    def heartbeat(self, request: HeartbeatRequest, now_ms: int) -> ErrorCode:
        return heartbeat(EventContext(self._state, now_ms), request)

    # What became of writes

    def write_done(self, write_id: int, now_ms: int) -> Effects:
        """The high watermark has passed the records of the write: they count now."""
        context = EventContext(self._state, now_ms)
        write, done = self._state.inflight.pop(write_id)
        for record in write.records:
            self._state.store.replay(record)
        self._no_longer_pending(write.records)
        done(context, ErrorCode.NONE)
        return context.effects

    def write_failed(self, write_id: int, error: ErrorCode, now_ms: int) -> Effects:
        """The records of the write were not appended."""
        context = EventContext(self._state, now_ms)
        write, done = self._state.inflight.pop(write_id)
        self._no_longer_pending(write.records)
        done(context, error)
        return context.effects

    def write_timed_out(self, write_id: int, error: ErrorCode, now_ms: int) -> Effects:
        """The records of the write are appended, but the high watermark did not pass them in time:
        the request is answered with `error`. The records count once `write_done` is called."""
        context = EventContext(self._state, now_ms)
        write, done = self._state.inflight[write_id]
        self._state.inflight[write_id] = (write, ignore_outcome)
        done(context, error)
        return context.effects

    def _no_longer_pending(self, records: tuple[GroupsRecord, ...]) -> None:
        pending = self._state.pending_offsets
        for record in records:
            if not isinstance(record, OffsetRecord) or record.value is None:
                continue
            counts = pending[record.group_id]
            counts[record.topic, record.partition] -= 1
            if not counts[record.topic, record.partition]:
                del counts[record.topic, record.partition]
            if not counts:
                del pending[record.group_id]

    # Time

    @property
    def next_deadline_ms(self) -> int | None:
        """When `tick` must be called, None if there is no deadline."""
        return self._state.deadlines.next_ms()

    def tick(self, now_ms: int) -> Effects:
        context = EventContext(self._state, now_ms)
        for _ in range(DUE_MAX):
            due = self._state.deadlines.pop_due(now_ms)
            if due is None:
                break
            self._on_deadline(context, due)
            if due.timer is Timer.OFFSETS_SWEEP:
                break
        return context.effects

    def _on_deadline(self, context: EventContext, due: Deadline) -> None:
        if due.timer is Timer.OFFSETS_SWEEP:
            offset_expiration.sweep(context)
            return
        group = self._state.groups.get(due.group_id)
        if group is None:
            return
        if due.timer is Timer.JOIN:
            if group.state is GroupState.PREPARING_REBALANCE:
                delayed_join.end_joins(context, group)
        elif due.timer is Timer.SYNC:
            sync_group.end_syncs(context, group)
        elif due.timer is Timer.PENDING_MEMBER:
            leave_group.remove_pending_member(context, group, due.member_id)
        else:
            member = group.members.get(due.member_id)
            # A member is alive while a request of its own waits; but a client may have given up its
            # first join without a word.
            if member is not None and (member.is_new or not member.waits):
                leave_group.remove_member(context, group, member)

    # Loss of leadership

    def resign(self, now_ms: int) -> Effects:
        """This broker leads no more: waiting requests are answered NOT_COORDINATOR."""
        context = EventContext(self._state, now_ms)
        error = ErrorCode.NOT_COORDINATOR
        for group in self._state.groups.values():
            group.move(Event.REMOVED, now_ms)
            for member in group.members.values():
                context.answer_join(member, JoinReply(error=error, member_id=member.member_id))
                context.answer_sync(member, SyncReply(error=error))
        self._state.groups.clear()
        for _, done in list(self._state.inflight.values()):
            done(context, error)
        self._state.inflight.clear()
        context.effects.writes.clear()
        return context.effects

    # Read only

    def offsets(
        self, group_id: str, wanted: list[TopicPartition] | None
    ) -> dict[TopicPartition, OffsetValue | None]:
        """Committed offsets that the high watermark has passed; all if `wanted` is None."""
        known = self._state.store.offsets.get(group_id, {})
        if wanted is None:
            return dict(known)
        return {key: known.get(key) for key in wanted}

    def unstable(self, group_id: str, of: Iterable[TopicPartition]) -> Set[TopicPartition]:
        """Those of the partitions for which an open transaction has an offset."""
        return self._state.store.unstable(group_id, of)

    def listings(self) -> Iterator[GroupListing]:
        for group in self._state.groups.values():
            yield GroupListing(group.group_id, group.protocol_type or "", group.state.value)

    def counts(self) -> tuple[Counter[str], int]:
        """How many groups are in which state (Kafka's words), and how many offsets are kept."""
        states = Counter(group.state.value for group in self._state.groups.values())
        return states, sum(map(len, self._state.store.offsets.values()))

    def describe(self, group_id: str) -> GroupDescription:
        """Protocol, subscriptions and assignments are only in the description of a stable group."""
        group = self._state.groups.get(group_id)
        if group is None:
            return GroupDescription()
        state, kind, members = group.state, group.protocol_type or "", group.member_values()
        if state is GroupState.STABLE:
            return GroupDescription(state.value, kind, group.protocol or "", members)
        members = tuple(replace(each, subscription=b"", assignment=b"") for each in members)
        return GroupDescription(state.value, kind, members=members)
