"""Committed offsets: OffsetCommit, OffsetFetch, OffsetDelete."""

from collections.abc import Awaitable, Iterable, Iterator, Set
from dataclasses import dataclass
from typing import Any

from brokerd.coordinator.group.coordinator import GroupCoordinator
from brokerd.coordinator.group.messages import CommitRequest, OffsetsReply, OffsetToCommit
from brokerd.coordinator.group.records import OffsetValue
from brokerd.errors import ErrorCode, KafkaError
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.messages import encode_item
from brokerd.server.coordinator_runtime.group_service import GroupService
from brokerd.server.requests.context import Fields, RequestContext, milliseconds
from brokerd.topic_partition import TopicPartition
from brokerd.turns import AT_ONCE_MAX, at_once_or_in_turns, in_turns

COMMIT_INSTANCE_FROM = 7
COMMIT_LEADER_EPOCH_FROM = 6
COMMIT_RETENTION_UP_TO = 4
FETCH_TOP_ERROR_FROM = 2
FETCH_MANY_FROM = 8

FETCH_STABLE_FROM = 7

_Found = tuple[
    list[bytes], dict[TopicPartition, OffsetValue | None], ErrorCode, Set[TopicPartition]
]
"""Where a group's topics go, its offsets, the error of each, and which may change yet."""
_Place = tuple[list[bytes], int, OffsetValue | None, ErrorCode]


@dataclass(frozen=True, slots=True)
class GroupOffsetHandlers:
    groups: GroupService

    async def offset_commit(self, context: RequestContext, request: Any) -> Fields:
        """Writes all offsets together."""
        answer = _ByPartition(self.groups)
        await in_turns(_asked(request.topics), answer.note)
        if answer.known:
            has_epoch = context.api_version >= COMMIT_LEADER_EPOCH_FROM
            offsets: list[OffsetToCommit] = []
            await in_turns(
                answer.known.items(), lambda each: offsets.append(_to_commit(*each, has_epoch))
            )
            errors = await self._commit(_commit_request(context, request, offsets))
            await in_turns(errors.items(), answer.add_result)
        return {"topics": list(answer.topics.values())}

    async def _commit(self, commit: CommitRequest) -> dict[TopicPartition, ErrorCode]:
        try:
            runtime = self.groups.runtime(commit.group_id, may_be_empty=True)
            reply = await runtime.ask(OffsetsReply, GroupCoordinator.commit, commit)
        except KafkaError as error:
            return {(each.topic, each.partition): error.code for each in commit.offsets}
        return reply.errors

    def offset_fetch(self, context: RequestContext, request: Any) -> Fields | Awaitable[Fields]:
        """Committed offsets; require_stable refuses those that an open transaction may change."""
        is_batched = context.api_version >= FETCH_MANY_FROM
        wants_stable = context.api_version >= FETCH_STABLE_FROM and bool(request.require_stable)
        answer = _OffsetsAnswer(self.groups, context.api_version, wants_stable)
        found = at_once_or_in_turns(request.groups if is_batched else [request], answer.find, None)
        if found is not None or answer.size > AT_ONCE_MAX:
            return answer.made_in_turns(found)
        for place in answer.places():
            answer.encode_partition(place)
        for each in answer.topics:
            answer.encode_topic(each)
        return answer.fields()

    async def offset_delete(self, _context: RequestContext, request: Any) -> Fields:
        group_id = request.group_id
        answer = _ByPartition(self.groups)
        await in_turns(_asked(request.topics), answer.note)
        partitions = tuple(answer.known)
        try:
            runtime = self.groups.runtime(group_id)
            reply = await runtime.ask(
                OffsetsReply, GroupCoordinator.delete_offsets, group_id, partitions
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

    def __init__(self, groups: GroupService) -> None:
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
        self._rows(topic).append({"partition_index": index, "error_code": error})

    def _rows(self, topic: str) -> list[Fields]:
        row = self.topics.get(topic)
        if row is None:
            row = self.topics[topic] = {"name": topic, "partitions": []}
        rows: list[Fields] = row["partitions"]
        return rows


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
    """An OffsetFetch's answer in the making: what is found, then partitions, then topics."""

    def __init__(self, groups: GroupService, version: int, wants_stable: bool) -> None:
        self._coordinator = groups
        self._version = version
        self._wants_stable = wants_stable
        self._is_batched = version >= FETCH_MANY_FROM
        self._path = ("groups", "topics") if self._is_batched else ("topics",)
        self._groups: list[Fields] = []
        self.topics: list[tuple[list[bytes], str, list[bytes]]] = []
        """Where each topic's row goes, its name, and its partitions' rows."""
        self.size = 0
        """How many partitions are answered."""
        self._found: list[_Found] = []

    def find(self, asked: Any) -> None:
        """`asked` is a group with its topics; without topics, all that it committed."""
        errors_inside = self._version < FETCH_TOP_ERROR_FROM
        group_id, wanted = asked.group_id, None
        if asked.topics is not None:
            wanted = [(t.name, int(index)) for t in asked.topics for index in t.partition_indexes]
        error = ErrorCode.NONE
        offsets: dict[TopicPartition, OffsetValue | None] = {}
        unstable: Set[TopicPartition] = frozenset()
        try:
            runtime = self._coordinator.runtime(group_id, may_be_empty=True)
            offsets = runtime.coordinator.offsets(group_id, wanted)
            if self._wants_stable:
                unstable = runtime.coordinator.unstable(group_id, offsets)
        except KafkaError as refusal:
            error = refusal.code
            if errors_inside:
                offsets = dict.fromkeys(wanted or (), None)
        inside = error if errors_inside else ErrorCode.NONE
        topics: list[bytes] = []
        self.size += len(offsets)
        self._found.append((topics, offsets, inside, unstable))
        group: Fields = {"group_id": group_id} if self._is_batched else {}
        self._groups.append({**group, "error_code": error, "topics": topics})

    async def made_in_turns(self, found: Awaitable[None] | None) -> Fields:
        if found is not None:
            await found
        await in_turns(self.places(), self.encode_partition)
        await in_turns(self.topics, self.encode_topic)
        return self.fields()

    def places(self) -> Iterator[_Place]:
        """Where each partition's row goes, and what it says; fills `topics` meanwhile."""
        for answered, offsets, error, unstable in self._found:
            topics: dict[str, list[bytes]] = {}
            for (topic, index), value in offsets.items():
                rows = topics.get(topic)
                if rows is None:
                    rows = topics[topic] = []
                    self.topics.append((answered, topic, rows))
                if (topic, index) in unstable:
                    yield rows, index, None, ErrorCode.UNSTABLE_OFFSET_COMMIT
                else:
                    yield rows, index, value, error

    def encode_partition(self, place: _Place) -> None:
        rows, index, value, error = place
        path = (*self._path, "partitions")
        row = _fetched(index, value, error)
        rows.append(encode_item(ApiKey.OFFSET_FETCH, self._version, path, row))

    def encode_topic(self, place: tuple[list[bytes], str, list[bytes]]) -> None:
        topics, name, rows = place
        row = {"name": name, "partitions": rows}
        topics.append(encode_item(ApiKey.OFFSET_FETCH, self._version, self._path, row))

    def fields(self) -> Fields:
        return {"groups": self._groups} if self._is_batched else self._groups[0]


def _fetched(index: int, value: OffsetValue | None, error: ErrorCode) -> Fields:
    return {
        "partition_index": index,
        "committed_offset": value.offset if value else -1,
        "committed_leader_epoch": value.leader_epoch if value else -1,
        "metadata": value.metadata if value else "",
        "error_code": error,
    }
