"""Committed offsets: OffsetCommit, OffsetFetch, OffsetDelete."""

from collections.abc import Iterable
from typing import Any

from brokerd.errors import ErrorCode, KafkaError
from brokerd.groups.messages import CommitRequest, OffsetsReply, OffsetToCommit, TopicPartition
from brokerd.groups.records import OffsetValue
from brokerd.protocol.api_keys import ApiKey
from brokerd.server.broker import Broker
from brokerd.server.context import ColdHandler, Fields, RequestContext, milliseconds

COMMIT_INSTANCE_FROM = 7
COMMIT_LEADER_EPOCH_FROM = 6
COMMIT_RETENTION_UP_TO = 4
FETCH_TOP_ERROR_FROM = 2
FETCH_MANY_FROM = 8


async def offset_commit(broker: Broker, context: RequestContext, request: Any) -> Fields:
    known, unknown = _split(broker, context, request)
    errors: dict[TopicPartition, ErrorCode] = dict.fromkeys(
        unknown, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    )
    if known:
        errors |= await _commit(broker, _commit_request(context, request, known))
    return {"topics": _by_topic(request.topics, errors)}


def _split(
    broker: Broker, context: RequestContext, request: Any
) -> tuple[list[OffsetToCommit], list[TopicPartition]]:
    """The offsets of partitions that exist, and the partitions that do not."""
    has_epoch = context.api_version >= COMMIT_LEADER_EPOCH_FROM
    known: list[OffsetToCommit] = []
    unknown: list[TopicPartition] = []
    for topic in request.topics:
        for each in topic.partitions:
            index = int(each.partition_index)
            if not broker.groups.knows_partition(topic.name, index):
                unknown.append((topic.name, index))
                continue
            leader_epoch = int(each.committed_leader_epoch) if has_epoch else -1
            metadata = each.committed_metadata or ""
            known.append(
                OffsetToCommit(
                    topic.name, index, int(each.committed_offset), leader_epoch, metadata
                )
            )
    return known, unknown


def _commit_request(
    context: RequestContext, request: Any, offsets: list[OffsetToCommit]
) -> CommitRequest:
    retention_ms = -1
    if context.api_version <= COMMIT_RETENTION_UP_TO:
        retention_ms = milliseconds(request.retention_time)
    return CommitRequest(
        group_id=request.group_id,
        member_id=request.member_id,
        generation=int(request.generation_id_or_member_epoch),
        instance_id=(
            request.group_instance_id if context.api_version >= COMMIT_INSTANCE_FROM else None
        ),
        offsets=tuple(offsets),
        retention_ms=None if retention_ms < 0 else retention_ms,
    )


async def _commit(broker: Broker, commit: CommitRequest) -> dict[TopicPartition, ErrorCode]:
    try:
        shard = broker.groups.shard(commit.group_id, may_be_empty=True)
        reply = await shard.ask(OffsetsReply, lambda core, t, now: core.commit(t, commit, now))
    except KafkaError as error:
        return {(each.topic, each.partition): error.code for each in commit.offsets}
    return reply.errors


def _by_topic(topics: Iterable[Any], errors: dict[TopicPartition, ErrorCode]) -> list[Fields]:
    """The outcome in the request's own shape."""
    return [
        {
            "name": topic.name,
            "partitions": [
                {
                    "partition_index": each.partition_index,
                    "error_code": errors[topic.name, int(each.partition_index)],
                }
                for each in topic.partitions
            ],
        }
        for topic in topics
    ]


def offset_fetch(broker: Broker, context: RequestContext, request: Any) -> Fields:
    """Offsets that no transaction can still change, so `require_stable` always holds."""
    if context.api_version >= FETCH_MANY_FROM:
        groups = [
            {"group_id": each.group_id, **_fetch(broker, each.group_id, each.topics, False)}
            for each in request.groups
        ]
        return {"groups": groups}
    errors_inside = context.api_version < FETCH_TOP_ERROR_FROM
    return _fetch(broker, request.group_id, request.topics, errors_inside)


def _fetch(broker: Broker, group_id: str, topics: Any, errors_inside: bool) -> Fields:
    wanted = None
    if topics is not None:
        wanted = [(t.name, int(index)) for t in topics for index in t.partition_indexes]
    error = ErrorCode.NONE
    offsets: dict[TopicPartition, OffsetValue | None] = {}
    try:
        offsets = broker.groups.shard(group_id, may_be_empty=True).core.offsets(group_id, wanted)
    except KafkaError as refusal:
        error = refusal.code
        if errors_inside:
            offsets = dict.fromkeys(wanted or (), None)
    by_topic: dict[str, list[Fields]] = {}
    inside = error if errors_inside else ErrorCode.NONE
    for (topic, index), value in offsets.items():
        by_topic.setdefault(topic, []).append(_fetched(index, value, inside))
    return {
        "error_code": error,
        "topics": [{"name": name, "partitions": found} for name, found in by_topic.items()],
    }


def _fetched(index: int, value: OffsetValue | None, error: ErrorCode) -> Fields:
    return {
        "partition_index": index,
        "committed_offset": value.offset if value else -1,
        "committed_leader_epoch": value.leader_epoch if value else -1,
        "metadata": value.metadata if value else "",
        "error_code": error,
    }


async def offset_delete(broker: Broker, _context: RequestContext, request: Any) -> Fields:
    group_id = request.group_id
    partitions = tuple(
        (str(topic.name), int(each.partition_index))
        for topic in request.topics
        for each in topic.partitions
    )
    try:
        shard = broker.groups.shard(group_id)
        reply = await shard.ask(
            OffsetsReply,
            lambda core, t, now: core.delete_offsets(t, group_id, partitions, now),
        )
    except KafkaError as error:
        return {"error_code": error.code, "topics": []}
    if reply.error is not ErrorCode.NONE:
        return {"error_code": reply.error, "topics": []}
    return {"error_code": ErrorCode.NONE, "topics": _by_topic(request.topics, reply.errors)}


HANDLERS: dict[ApiKey, ColdHandler] = {
    ApiKey.OFFSET_COMMIT: offset_commit,
    ApiKey.OFFSET_FETCH: offset_fetch,
    ApiKey.OFFSET_DELETE: offset_delete,
}
