"""Removal of offsets and groups: DeleteGroups, OffsetDelete, and with their topic. An empty group
goes with its last offset.
"""

from collections.abc import Collection, Iterable, Set
from functools import partial

from brokerd.coordinator.group.coordinator_context import EventContext, PartitionGroups
from brokerd.coordinator.group.coordinator_timer import Timer
from brokerd.coordinator.group.group_coordinator_record_serde import (
    GroupRecord,
    GroupsRecord,
    OffsetRecord,
)
from brokerd.coordinator.group.group_metadata import Group
from brokerd.coordinator.group.group_states import ANSWERS, Action, Event, GroupState, Request
from brokerd.coordinator.group.messages import DeleteReply, OffsetsReply, Ticket
from brokerd.coordinator.group.offset_commit import answer_offsets
from brokerd.errors import ErrorCode
from brokerd.topic_partition import TopicPartition


def delete_group(context: EventContext, ticket: Ticket, group_id: str) -> None:
    group = context.state.groups.get(group_id)
    answer: ErrorCode | Action = ErrorCode.GROUP_ID_NOT_FOUND
    if group is not None:
        answer = ANSWERS[Request.DELETE_GROUP][group.state]
    if isinstance(answer, ErrorCode):
        context.reply(ticket, DeleteReply(answer))
        return
    assert group is not None
    records = drop_group(context, group, _all_offsets(context.state, group_id))
    context.write(records, partial(_group_deleted, group_id, ticket))


def _all_offsets(state: PartitionGroups, group_id: str) -> set[TopicPartition]:
    """All partitions with an offset, also with one in a write under way."""
    committed = state.store.offsets.get(group_id, {})
    return committed.keys() | state.pending_offsets.get(group_id, {}).keys()


def drop_group(
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
    records = tombstones(group.group_id, offsets)
    if group.generation > 0:  # without one the group never had a record of its own
        records.append(GroupRecord(group.group_id, None))
    return records


def tombstones(group_id: str, offsets: Iterable[TopicPartition]) -> list[GroupsRecord]:
    return [OffsetRecord(group_id, topic, index, None) for topic, index in sorted(offsets)]


def _group_deleted(group_id: str, ticket: Ticket, context: EventContext, error: ErrorCode) -> None:
    groups_dropped({group_id}, context, error)
    context.reply(ticket, DeleteReply(error))


def groups_dropped(gone: set[str], context: EventContext, error: ErrorCode) -> None:
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
        return tombstones(group_id, offsets)
    # someone may be just about to join, or to commit
    if group.pending or state.store.has_open_transaction(group_id):
        return tombstones(group_id, offsets)
    return drop_group(context, group, offsets)


def _offsets_removed(
    gone: set[str], ticket: Ticket, outcome: dict[TopicPartition, ErrorCode], context: EventContext,
    error: ErrorCode,
) -> None:  # fmt: skip
    groups_dropped(gone, context, error)
    answer_offsets(ticket, outcome, context, error)


def forget_topics(context: EventContext, topics: Set[str]) -> None:
    state = context.state
    records: list[GroupsRecord] = []
    for group in list(state.groups.values()):
        offsets = state.store.offsets.get(group.group_id, {})
        records += _remove(context, group, [key for key in offsets if key[0] in topics])
    if records:
        gone = {each.group_id for each in records} - state.groups.keys()
        context.write(records, partial(groups_dropped, gone))
