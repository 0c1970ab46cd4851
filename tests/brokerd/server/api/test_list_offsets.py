"""ListOffsets of many partitions."""

import asyncio
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import pytest

from brokerd import event_loop_turns
from brokerd.errors import ErrorCode, KafkaError
from brokerd.event_loop_turns import AT_ONCE_MAX
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.list_offsets import (
    ListOffsetsRequest,
    RequestedPartition,
    RequestedTopic,
)
from brokerd.protocol.messages import decode_response, encode_response
from brokerd.server.api.list_offsets import ListOffsetsHandlers
from tests.brokerd.server.group_broker import context


def handlers_of(get_partition_or_error: Callable[[str, int, int], Any]) -> ListOffsetsHandlers:
    led: Any = SimpleNamespace(get_partition_or_error=get_partition_or_error)
    nothing: Any = None
    return ListOffsetsHandlers(led, nothing, nothing)


@pytest.mark.parametrize("version", [1, 7])
async def test_many_names_that_no_topic_has_are_told_in_order_and_others_served_meanwhile(
    version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_loop_turns, "TURN_S", 0.0)
    looked_up: list[str] = []

    def get_partition_or_error(topic: str, index: int, epoch: int) -> Any:
        looked_up.append(topic)
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)

    handlers = handlers_of(get_partition_or_error)
    names = [f"t-{number}" for number in range(3_000)]
    asked = (RequestedPartition(0, -1, -1),)
    request = ListOffsetsRequest(0, tuple(RequestedTopic(name, asked) for name in names))
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
