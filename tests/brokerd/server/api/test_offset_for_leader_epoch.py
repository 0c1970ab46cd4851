"""OffsetForLeaderEpoch of many partitions, and where one's disk has failed."""

from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import pytest

from brokerd import event_loop_turns
from brokerd.errors import ErrorCode, KafkaError
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.messages import decode_response, encode_response
from brokerd.server.api.offset_for_leader_epoch import OffsetForLeaderEpochHandler
from tests.brokerd.server.group_broker import context


def handlers_of(
    get_partition_or_error: Callable[[str, int, int], Any],
) -> OffsetForLeaderEpochHandler:
    led: Any = SimpleNamespace(get_partition_or_error=get_partition_or_error)
    nothing: Any = None
    return OffsetForLeaderEpochHandler(led, nothing)


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
