"""ListOffsets and OffsetForLeaderEpoch of many partitions, and where one's disk has failed."""

import asyncio
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import pytest

from brokerd import event_loop_turns
from brokerd.errors import ErrorCode, KafkaError
from brokerd.event_loop_turns import AT_ONCE_MAX
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.messages import decode_response, encode_response
from brokerd.server.api.list_offsets import ListOffsetsHandlers
from tests.brokerd.server.group_broker import context


def handlers_of(leader_of: Callable[[str, int, int], Any]) -> ListOffsetsHandlers:
    led: Any = SimpleNamespace(leader_of=leader_of)
    nothing: Any = None
    return ListOffsetsHandlers(led, nothing, nothing)


async def test_epochs_of_many_partitions_are_looked_up_in_turns_and_told_in_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(event_loop_turns, "TURN_S", 0.0)
    count = 300
    ends = SimpleNamespace(end_offset_for_epoch=lambda epoch: (epoch, 42))
    handlers = handlers_of(lambda topic, index, epoch: ends)
    many = [
        SimpleNamespace(partition=index, current_leader_epoch=-1, leader_epoch=3)
        for index in range(count)
    ]
    request = SimpleNamespace(topics=[SimpleNamespace(topic="t", partitions=many)])
    answer = handlers.offset_for_leader_epoch(context(ApiKey.OFFSET_FOR_LEADER_EPOCH, 4), request)
    assert isinstance(answer, Awaitable)
    fields = await answer
    assert {type(row) for row in fields["topics"][0]["partitions"]} == {bytes}  # none is left
    body = encode_response(ApiKey.OFFSET_FOR_LEADER_EPOCH, 4, fields)
    (topic,) = decode_response(ApiKey.OFFSET_FOR_LEADER_EPOCH, 4, bytes(5) + body).topics
    assert [each.partition for each in topic.partitions] == list(range(count))


@pytest.mark.parametrize("version", [1, 7])
async def test_many_names_that_no_topic_has_are_told_in_order_and_others_served_meanwhile(
    version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_loop_turns, "TURN_S", 0.0)
    looked_up: list[str] = []

    def leader_of(topic: str, index: int, epoch: int) -> Any:
        looked_up.append(topic)
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)

    handlers = handlers_of(leader_of)
    names = [f"t-{number}" for number in range(3_000)]
    asked = [SimpleNamespace(partition_index=0, current_leader_epoch=-1, timestamp=-1)]
    topics = [SimpleNamespace(name=name, partitions=asked) for name in names]
    request = SimpleNamespace(topics=topics, isolation_level=0)
    answer = handlers.list_offsets(context(ApiKey.LIST_OFFSETS, version), request)
    assert isinstance(answer, Awaitable)
    steps = set()
    answered = asyncio.ensure_future(answer)
    while not answered.done():
        steps.add(len(looked_up))
        await asyncio.sleep(0)
    assert len(steps) > 100
    body = encode_response(ApiKey.LIST_OFFSETS, version, await answered)
    start = 5 if version >= 6 else 4
    told = decode_response(ApiKey.LIST_OFFSETS, version, bytes(start) + body).topics
    assert [topic.name for topic in told] == names
    codes = {each.error_code for topic in told for each in topic.partitions}
    assert codes == {ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}


def test_a_failed_disk_fails_the_epochs_of_its_own_partitions_only() -> None:
    def end_of(index: int) -> Any:
        def end_offset_for_epoch(epoch: int) -> tuple[int, int]:
            if index == 0:
                raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR)
            return epoch, 42

        return SimpleNamespace(end_offset_for_epoch=end_offset_for_epoch)

    handlers = handlers_of(lambda topic, index, epoch: end_of(index))
    asked = [
        SimpleNamespace(partition=index, current_leader_epoch=-1, leader_epoch=3)
        for index in (0, 1)
    ]
    request = SimpleNamespace(topics=[SimpleNamespace(topic="t", partitions=asked)])
    answer: Any = handlers.offset_for_leader_epoch(
        context(ApiKey.OFFSET_FOR_LEADER_EPOCH, 4), request
    )
    body = encode_response(ApiKey.OFFSET_FOR_LEADER_EPOCH, 4, answer)
    (topic,) = decode_response(ApiKey.OFFSET_FOR_LEADER_EPOCH, 4, bytes(5) + body).topics
    failed, told = topic.partitions
    assert failed.error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert (told.error_code, told.leader_epoch, told.end_offset) == (0, 3, 42)


def test_offsets_of_many_partitions_are_told_as_those_of_few(ask, led_by) -> None:
    topic = led_by("offsets", 1)

    def listed(count: int) -> list[Any]:
        asked = [
            {"partition_index": index, "current_leader_epoch": -1, "timestamp": -1}
            for index in range(count)
        ]
        topics = [{"name": topic, "partitions": asked}]
        fields = {"replica_id": -1, "isolation_level": 0, "topics": topics}
        (told,) = ask(ApiKey.LIST_OFFSETS, 7, fields).topics
        assert told.name == topic
        return list(told.partitions)

    for count in (2, AT_ONCE_MAX + 2):
        found = listed(count)
        assert [each.partition_index for each in found] == list(range(count))
        unknown = [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION] * (count - 1)
        assert [each.error_code for each in found] == [0, *unknown]
