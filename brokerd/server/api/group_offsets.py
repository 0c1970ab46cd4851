"""Committed offsets: OffsetCommit, OffsetFetch, OffsetDelete."""

from collections.abc import Awaitable, Iterable, Iterator, Set
from dataclasses import dataclass
from typing import Any

from brokerd.coordinator.group import delete_groups, offset_commit
from brokerd.coordinator.group.group_coordinator_record_serde import OffsetValue
from brokerd.coordinator.group.messages import CommitRequest, OffsetsReply, OffsetToCommit
from brokerd.errors import ErrorCode, KafkaError
from brokerd.event_loop_turns import at_once_or_in_turns, in_turns, map_in_turns
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.messages import encode_item
from brokerd.server.coordinator_runtime.group_coordinator_service import GroupCoordinatorService
from brokerd.server.requests.request_context import Fields, RequestContext, milliseconds
from brokerd.topic_partition import TopicPartition

COMMIT_INSTANCE_FROM = 7
COMMIT_LEADER_EPOCH_FROM = 6
COMMIT_RETENTION_UP_TO = 4
FETCH_TOP_ERROR_FROM = 2
FETCH_MANY_FROM = 8

FETCH_STABLE_FROM = 7

_Found = tuple[ErrorCode, dict[TopicPartition, OffsetValue | None], Set[TopicPartition]]
"""Of a group: an error, its offsets, and those that an open transaction may change."""


@dataclass(frozen=True, slots=True)
class GroupOffsetHandlers:
    groups: GroupCoordinatorService

    async def offset_commit(self, context: RequestContext, request: Any) -> Fields:
        answer = _ByPartition(self.groups)
        await in_turns(_asked(request.topics), answer.note)
        if answer.known:
            has_epoch = context.api_version >= COMMIT_LEADER_EPOCH_FROM
            offsets = await map_in_turns(
                answer.known.items(), lambda each: _to_commit(*each, has_epoch)
            )
            errors = await self._commit(_commit_request(context, request, offsets))
            await in_turns(errors.items(), answer.add_result)
        return {"topics": list(answer.topics.values())}

    async def _commit(self, commit: CommitRequest) -> dict[TopicPartition, ErrorCode]:
        try:
            runtime = self.groups.runtime(commit.group_id, may_be_empty=True)
            reply = await runtime.ask(OffsetsReply, offset_commit.commit, commit)
        except KafkaError as error:
            return {(each.topic, each.partition): error.code for each in commit.offsets}
        return reply.errors

    def offset_fetch(self, context: RequestContext, request: Any) -> Fields | Awaitable[Fields]:
        """Committed offsets; require_stable refuses those that an open transaction may change."""
        is_batched = context.api_version >= FETCH_MANY_FROM
        answer = _OffsetsAnswer(self.groups, context.api_version)
        fields: Fields = {"groups": answer.groups} if is_batched else answer.first
        wanted = request.groups if is_batched else [request]
        needs_stable = context.api_version >= FETCH_STABLE_FROM and bool(request.require_stable)
        encoding = answer.encode(wanted, needs_stable)
        return at_once_or_in_turns(encoding, lambda _: None, fields)

    async def offset_delete(self, _context: RequestContext, request: Any) -> Fields:
        group_id = request.group_id
        answer = _ByPartition(self.groups)
        await in_turns(_asked(request.topics), answer.note)
        partitions = tuple(answer.known)
        try:
            runtime = self.groups.runtime(group_id)
            reply = await runtime.ask(
                OffsetsReply, delete_groups.delete_offsets, group_id, partitions
            )
        except KafkaError as error:
            return {"error_code": error.code, "topics": []}
        if reply.error is not ErrorCode.NONE:
            return {"error_code": reply.error, "topics": []}
        await in_turns(reply.errors.items(), answer.add_result)
        return {"error_code": ErrorCode.NONE, "topics": list(answer.topics.values())}


def _asked(topics: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    return ((topic.name, each) for topic in topics for each in topic.partitions)


def _to_commit(partition: TopicPartition, row: Any, has_epoch: bool) -> OffsetToCommit:
    leader_epoch = int(row.committed_leader_epoch) if has_epoch else -1
    metadata = row.committed_metadata or ""
    return OffsetToCommit(*partition, int(row.committed_offset), leader_epoch, metadata)


class _ByPartition:
    """An answer in the making. Existing partitions occur once, with the last result; partitions
    that do not exist as often as they are named, as in Kafka."""

    def __init__(self, groups: GroupCoordinatorService) -> None:
        self._groups = groups
        self.known: dict[TopicPartition, Any] = {}
        self.topics: dict[str, Fields] = {}

    def note(self, asked: tuple[str, Any]) -> None:
        topic, each = asked
        index = int(each.partition_index)
        if not self._groups.knows_partition(topic, index):
            self.add_result(((topic, index), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
            return
        self.known[topic, index] = each

    def add_result(self, outcome: tuple[TopicPartition, ErrorCode]) -> None:
        (topic, index), error = outcome
        row = self.topics.setdefault(topic, {"name": topic, "partitions": []})
        row["partitions"].append({"partition_index": index, "error_code": error})


def _commit_request(
    context: RequestContext, request: Any, offsets: Iterable[OffsetToCommit]
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


class _OffsetsAnswer:
    """An OffsetFetch's answer in the making; `first` is that of the first group, for versions
    without `groups`."""

    def __init__(self, groups: GroupCoordinatorService, version: int) -> None:
        self._service = groups
        self._version = version
        self._is_batched = version >= FETCH_MANY_FROM
        self._path = ("groups", "topics") if self._is_batched else ("topics",)
        self.groups: list[Fields] = []
        self.first: Fields = {}

    def encode(self, groups: Iterable[Any], needs_stable: bool) -> Iterator[None]:
        """Encodes the offsets of each group for its topics (None: all that it committed), one
        partition or topic at a time."""
        for asked in groups:
            error, offsets, unstable = self._find(asked, needs_stable)
            inside = error if self._version < FETCH_TOP_ERROR_FROM else ErrorCode.NONE
            topics: dict[str, list[bytes]] = {}
            for (topic, index), value in offsets.items():
                row = _fetched(index, value, inside)
                if (topic, index) in unstable:
                    row = _fetched(index, None, ErrorCode.UNSTABLE_OFFSET_COMMIT)
                topics.setdefault(topic, []).append(self._item(row, "partitions"))
                yield
            rows: list[bytes] = []
            for name, partitions in topics.items():
                rows.append(self._item({"name": name, "partitions": partitions}))
                yield
            answered: Fields = {"error_code": error, "topics": rows}
            if self._is_batched:
                self.groups.append({"group_id": asked.group_id, **answered})
            else:
                self.first.update(answered)
            yield

    def _find(self, asked: Any, needs_stable: bool) -> _Found:
        group_id, wanted = asked.group_id, None
        if asked.topics is not None:
            wanted = [(t.name, int(index)) for t in asked.topics for index in t.partition_indexes]
        try:
            coordinator = self._service.runtime(group_id, may_be_empty=True).coordinator
            offsets = coordinator.offsets(group_id, wanted)
            unstable = coordinator.unstable(group_id, offsets) if needs_stable else frozenset()
        except KafkaError as error:
            has_rows = self._version < FETCH_TOP_ERROR_FROM
            return error.code, dict.fromkeys(wanted or (), None) if has_rows else {}, frozenset()
        return ErrorCode.NONE, offsets, unstable

    def _item(self, row: Fields, *inner: str) -> bytes:
        return encode_item(ApiKey.OFFSET_FETCH, self._version, (*self._path, *inner), row)


def _fetched(index: int, value: OffsetValue | None, error: ErrorCode) -> Fields:
    return {
        "partition_index": index,
        "committed_offset": value.offset if value else -1,
        "committed_leader_epoch": value.leader_epoch if value else -1,
        "metadata": value.metadata if value else "",
        "error_code": error,
    }
