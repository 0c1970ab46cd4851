"""Commits of offsets, and their removal: by request, by retention, or with their topic.

A commit is a record per partition. `offsets.retention.minutes` counts, as in Kafka, from when the
group became empty; from the commit for a group that never had members, and for topics that a stable
group no longer subscribes to. An empty group is removed with its last offset.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Set
from functools import partial
from itertools import islice

from brokerd.coordinator.group import sessions
from brokerd.coordinator.group.deadline_heap import Deadline, Timer
from brokerd.coordinator.group.event_context import EventContext, PartitionGroups, ignore_outcome
from brokerd.coordinator.group.group_metadata import Group
from brokerd.coordinator.group.group_states import ANSWERS, Action, Event, GroupState, Request
from brokerd.coordinator.group.messages import (
    CommitRequest,
    DeleteReply,
    OffsetsReply,
    OffsetToCommit,
    Ticket,
)
from brokerd.coordinator.group.records import GroupRecord, GroupsRecord, OffsetRecord, OffsetValue
from brokerd.errors import ErrorCode
from brokerd.integer_ranges import INT16_MAX
from brokerd.topic_partition import TopicPartition

SWEEP_OFFSETS_MAX = 2_000
"""One slice of the sweep looks at so many offsets, so that none takes long; a group counts
as GROUP_OFFSETS more. No more of one group are forgotten at once."""
GROUP_OFFSETS = 40


def commit(context: EventContext, ticket: Ticket, request: CommitRequest) -> None:
    """Writes offsets of a member or, if the group is empty, of a client that is no member."""
    group = context.state.groups.get(request.group_id)
    error = _check_commit(context, group, request)
    if error is not ErrorCode.NONE:
        partitions = [(o.topic, o.partition) for o in request.offsets]
        errors: dict[TopicPartition, ErrorCode] = dict.fromkeys(partitions, error)
        context.reply(ticket, OffsetsReply(errors, error))
        return
    if group is None:
        context.state.groups[request.group_id] = Group(
            request.group_id, context.state.member_memory
        )
    length_max = context.config.offset_metadata_length_max
    outcome: dict[TopicPartition, ErrorCode] = {}
    records: list[GroupsRecord] = []
    for offset in request.offsets:
        fits = _fits(offset.metadata, length_max)
        refused = ErrorCode.OFFSET_METADATA_TOO_LARGE
        outcome[offset.topic, offset.partition] = ErrorCode.NONE if fits else refused
        if fits:
            records.append(_offset_record(context, request, offset))
    if not records:
        context.reply(ticket, OffsetsReply(outcome))
        return
    context.write(records, partial(_answer_offsets, ticket, outcome))


def _fits(metadata: str, length_max: int) -> bool:
    """Kafka's limit is in units of UTF-16, as in Java; the record's in bytes of UTF-8."""
    if metadata.isascii():
        return len(metadata) <= length_max
    units = len(metadata.encode("utf-16-le")) // 2
    return units <= length_max and len(metadata.encode()) <= INT16_MAX


def _check_commit(context: EventContext, group: Group | None, request: CommitRequest) -> ErrorCode:
    outsider = request.generation < 0
    if group is None:
        # A member of a group that is not known here belongs to another life of it.
        return ErrorCode.NONE if outsider else ErrorCode.ILLEGAL_GENERATION
    if outsider and group.state is GroupState.EMPTY:
        return ErrorCode.NONE
    if outsider and not request.member_id and request.instance_id is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    error = group.check_generation(request.member_id, request.instance_id, request.generation)
    if error is not ErrorCode.NONE:
        return error
    answer = ANSWERS[Request.COMMIT][group.state]
    if isinstance(answer, ErrorCode):
        return answer
    sessions.renew(context, group, group.members[request.member_id])
    return ErrorCode.NONE


def _offset_record(
    context: EventContext, request: CommitRequest, offset: OffsetToCommit
) -> OffsetRecord:
    retention_ms = request.retention_ms
    expire_at_ms = None if retention_ms is None else context.now_ms + retention_ms
    value = OffsetValue(
        offset.offset, offset.leader_epoch, offset.metadata, context.now_ms, expire_at_ms
    )
    return OffsetRecord(request.group_id, offset.topic, offset.partition, value)


def _answer_offsets(
    ticket: Ticket,
    outcome: dict[TopicPartition, ErrorCode],
    context: EventContext,
    error: ErrorCode,
) -> None:
    if error is not ErrorCode.NONE:
        outcome = {key: error if one is ErrorCode.NONE else one for key, one in outcome.items()}
    context.reply(ticket, OffsetsReply(outcome))


# Removal


def delete_group(context: EventContext, ticket: Ticket, group_id: str) -> None:
    group = context.state.groups.get(group_id)
    answer: ErrorCode | Action = ErrorCode.GROUP_ID_NOT_FOUND
    if group is not None:
        answer = ANSWERS[Request.DELETE_GROUP][group.state]
    if isinstance(answer, ErrorCode):
        context.reply(ticket, DeleteReply(answer))
        return
    assert group is not None
    records = _drop_group(context, group, _all_offsets(context.state, group_id))
    context.write(records, partial(_group_deleted, group_id, ticket))


def _all_offsets(state: PartitionGroups, group_id: str) -> set[TopicPartition]:
    """All partitions with an offset, also with one in a write under way."""
    committed = state.store.offsets.get(group_id, {})
    return committed.keys() | state.pending_offsets.get(group_id, {}).keys()


def _drop_group(
    context: EventContext, group: Group, offsets: Iterable[TopicPartition]
) -> list[GroupsRecord]:
    """Removes the group from memory; returns the tombstones for the log. A member that joins now
    founds a new group, whose records come later in the log."""
    group.move(Event.REMOVED, context.now_ms)
    del context.state.groups[group.group_id]
    group.forget_name()
    for member_id in tuple(group.pending):
        context.cancel_deadline(Timer.PENDING_MEMBER, group, member_id)
        group.expect_no_more(member_id)
    records = _tombstones(group.group_id, offsets)
    if group.generation > 0:  # without one the group never had a record of its own
        records.append(GroupRecord(group.group_id, None))
    return records


def _tombstones(group_id: str, offsets: Iterable[TopicPartition]) -> list[GroupsRecord]:
    return [OffsetRecord(group_id, topic, index, None) for topic, index in sorted(offsets)]


def _group_deleted(group_id: str, ticket: Ticket, context: EventContext, error: ErrorCode) -> None:
    _groups_dropped({group_id}, context, error)
    context.reply(ticket, DeleteReply(error))


def _groups_dropped(gone: set[str], context: EventContext, error: ErrorCode) -> None:
    """A group whose tombstones were not appended exists again: the log still has it."""
    state = context.state
    if error is not ErrorCode.NONE:
        for group_id in gone - state.groups.keys():
            stored = state.store.groups.get(group_id)
            state.groups[group_id] = Group.from_stored(group_id, stored, state.member_memory)


def delete_offsets(
    context: EventContext, ticket: Ticket, group_id: str, partitions: tuple[TopicPartition, ...]
) -> None:
    """Removes offsets, except those of topics that the group subscribes to."""
    group = context.state.groups.get(group_id)
    answer: ErrorCode | Action = ErrorCode.GROUP_ID_NOT_FOUND
    if group is not None:
        answer = ANSWERS[Request.DELETE_OFFSETS][group.state]
        if answer is Action.UNLESS_SUBSCRIBED and group.protocol_type != "consumer":
            answer = ErrorCode.NON_EMPTY_GROUP
    if isinstance(answer, ErrorCode):
        context.reply(ticket, OffsetsReply(dict.fromkeys(partitions, answer), answer))
        return
    assert group is not None
    topics = group.subscribed_topics() if answer is Action.UNLESS_SUBSCRIBED else frozenset()
    outcome = {
        key: ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
        if topics is None or key[0] in topics
        else ErrorCode.NONE
        for key in partitions
    }
    known = _all_offsets(context.state, group_id)
    removed = {k for k, error in outcome.items() if error is ErrorCode.NONE and k in known}
    records = _remove(context, group, removed)
    if not records:
        context.reply(ticket, OffsetsReply(outcome))
        return
    gone = {group_id} - context.state.groups.keys()
    context.write(records, partial(_offsets_removed, gone, ticket, outcome))


def _remove(
    context: EventContext, group: Group, offsets: Collection[TopicPartition]
) -> list[GroupsRecord]:
    """The tombstones of these offsets; and of the group, if it is empty and keeps no offset."""
    state, group_id = context.state, group.group_id
    keeps = len(state.store.offsets.get(group_id, ())) > len(offsets)
    if keeps or group.state is not GroupState.EMPTY or state.pending_offsets.get(group_id):
        return _tombstones(group_id, offsets)
    if group.pending or state.store.awaits(group_id):  # someone is just about to join, or to commit
        return _tombstones(group_id, offsets)
    return _drop_group(context, group, offsets)


def _offsets_removed(
    gone: set[str], ticket: Ticket, outcome: dict[TopicPartition, ErrorCode], context: EventContext,
    error: ErrorCode,
) -> None:  # fmt: skip
    _groups_dropped(gone, context, error)
    _answer_offsets(ticket, outcome, context, error)


def forget_topics(context: EventContext, topics: Set[str]) -> None:
    state = context.state
    records: list[GroupsRecord] = []
    for group in list(state.groups.values()):
        offsets = state.store.offsets.get(group.group_id, {})
        records += _remove(context, group, [key for key in offsets if key[0] in topics])
    if records:
        gone = {each.group_id for each in records} - state.groups.keys()
        context.write(records, partial(_groups_dropped, gone))


# Retention


def sweep(context: EventContext) -> None:
    """Removes the expired offsets of some groups, and schedules the sweep of the others."""
    state = context.state
    if not state.sweep:
        state.sweep = list(state.groups)
    left = SWEEP_OFFSETS_MAX
    while state.sweep and left > 0:
        group = state.groups.get(state.sweep.pop())
        if group is not None:
            left -= GROUP_OFFSETS + len(state.store.offsets.get(group.group_id, ()))
            _expire(context, group)
    pause_ms = 0 if state.sweep else context.config.offsets_retention_check_ms
    state.deadlines.set(Deadline(Timer.OFFSETS_SWEEP), context.now_ms + pause_ms)


def _expire(context: EventContext, group: Group) -> None:
    state, group_id = context.state, group.group_id
    pending = state.pending_offsets.get(group_id) or Counter()
    offsets = state.store.offsets.get(group_id, {})
    read_now = group.subscribed_topics() if group.state is GroupState.STABLE else frozenset()
    if read_now is None:
        return
    expirable = (
        key
        for key, value in offsets.items()
        if key not in pending and key[0] not in read_now and _is_expired(context, group, value)
    )
    expired = list(islice(expirable, SWEEP_OFFSETS_MAX))
    if len(expired) == SWEEP_OFFSETS_MAX < len(offsets):
        context.write(_tombstones(group_id, expired), partial(_expire_more, group_id))
    elif group.state is GroupState.EMPTY and not pending and len(expired) == len(offsets):
        if group.pending or state.store.awaits(group_id):
            return  # someone is just about to join, or to commit
        records = _drop_group(context, group, expired)
        if records:
            context.write(records, partial(_groups_dropped, {group_id}))
    elif expired:
        context.write(_tombstones(group_id, expired), ignore_outcome)


def _expire_more(group_id: str, context: EventContext, error: ErrorCode) -> None:
    """Some offsets of a group were removed: schedule the next part of its sweep at once."""
    if error is ErrorCode.NONE:
        context.state.sweep.append(group_id)
        context.state.deadlines.set(Deadline(Timer.OFFSETS_SWEEP), context.now_ms)


def _is_expired(context: EventContext, group: Group, value: OffsetValue) -> bool:
    """Whether an offset is expired, of a topic that the group does not subscribe to."""
    if group.protocol_type is None:
        since_ms = value.committed_at_ms
    elif group.state is GroupState.EMPTY:
        since_ms = group.state_since_ms if group.state_since_ms >= 0 else value.committed_at_ms
    elif group.state is GroupState.STABLE:
        since_ms = value.committed_at_ms
    else:
        return False
    if value.expire_at_ms is not None:
        return context.now_ms >= value.expire_at_ms
    return context.now_ms - since_ms >= context.config.offsets_retention_ms
