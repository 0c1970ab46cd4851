"""OffsetCommit: a record for each partition, written if the member or the client may commit."""

from functools import partial

from brokerd.coordinator.group.coordinator_context import EventContext
from brokerd.coordinator.group.group_coordinator_record_serde import (
    GroupsRecord,
    OffsetRecord,
    OffsetValue,
)
from brokerd.coordinator.group.group_metadata import Group
from brokerd.coordinator.group.group_states import ANSWERS, GroupState, Request
from brokerd.coordinator.group.heartbeat import renew_session
from brokerd.coordinator.group.messages import CommitRequest, OffsetsReply, OffsetToCommit, Ticket
from brokerd.errors import ErrorCode
from brokerd.integer_ranges import INT16_MAX
from brokerd.topic_partition import TopicPartition


def commit(context: EventContext, ticket: Ticket, request: CommitRequest) -> None:
    """Writes offsets of a member or, if the group is empty, of a client that is no member."""
    group = context.state.groups.get(request.group_id)
    error = _check_commit(context, group, request)
    if error is not ErrorCode.NONE:
        partitions = [(o.topic, o.partition) for o in request.offsets]
        errors: dict[TopicPartition, ErrorCode] = dict.fromkeys(partitions, error)
        context.reply(ticket, OffsetsReply(errors, error))
        return
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
    if group is None:
        # not `founded`, which counts the name: the records store it, and where they could not be
        # written the next sweep removes the group
        group = Group(request.group_id, context.state.member_memory)
        context.state.groups[request.group_id] = group
    context.write(records, partial(answer_offsets, ticket, outcome))


def _fits(metadata: str, length_max: int) -> bool:
    """Kafka's limit is in units of UTF-16, as in Java; the record's in bytes of UTF-8."""
    if metadata.isascii():
        return len(metadata) <= length_max
    units = len(metadata.encode("utf-16-le")) // 2
    return units <= length_max and len(metadata.encode()) <= INT16_MAX


def _check_commit(context: EventContext, group: Group | None, request: CommitRequest) -> ErrorCode:
    outsider = request.generation < 0
    if group is None:
        # It was a member before the group was removed.
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
    renew_session(context, group, group.members[request.member_id])
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


def answer_offsets(
    ticket: Ticket,
    outcome: dict[TopicPartition, ErrorCode],
    context: EventContext,
    error: ErrorCode,
) -> None:
    """Answers the request; the `Done` of its write."""
    if error is not ErrorCode.NONE:
        outcome = {key: error if one is ErrorCode.NONE else one for key, one in outcome.items()}
    context.reply(ticket, OffsetsReply(outcome))
