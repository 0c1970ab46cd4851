"""Produce over the wire: requests that begin like earlier ones, of this or another connection."""

from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.records import Record, encode_batch
from tests.support.brokerd import BrokerdCluster
from tests.support.wire import Wire

_numbers = count()


@pytest.fixture
def wires(brokers: BrokerdCluster) -> Iterator[tuple[Wire, Wire]]:
    with Wire(brokers.brokers[0].port) as one, Wire(brokers.brokers[0].port) as other:
        yield one, other


def produce(wire: Wire, version: int, topic: str, index: int, value: bytes = b"v") -> Any:
    """The partition's part of the answer."""
    records = bytes(encode_batch([Record(0, 1_700_000_000_000, None, value)]))
    rows = [{"index": index, "records": records}]
    fields = {"acks": -1, "timeout": 5000, "topic_data": [{"name": topic, "partition_data": rows}]}
    answer = wire.ask(ApiKey.PRODUCE, version, fields)
    (found,) = answer.responses
    assert found.name == topic
    (row,) = found.partition_responses
    assert row.index == index
    return row


@pytest.mark.parametrize("version", [3, 8, 9, 11])
def test_a_producer_to_many_partitions_is_answered_for_each(
    led_by, wires: tuple[Wire, Wire], version: int
) -> None:
    one, another = (led_by(f"alike-{next(_numbers)}", 1) for _ in range(2))
    for turn in range(6):
        for wire in wires:
            for topic in (one, another):
                offset = 2 * turn + wires.index(wire)
                assert produce(wire, version, topic, 0).base_offset == offset


def test_requests_of_two_versions_that_begin_alike_are_told_apart(
    led_by, wires: tuple[Wire, Wire]
) -> None:
    topic = led_by(f"alike-{next(_numbers)}", 1)
    for offset in range(8):
        answer = produce(wires[offset // 4], 7 if offset % 2 else 3, topic, 0)
        assert (answer.error_code, answer.base_offset) == (0, offset)


def test_what_was_known_of_a_deleted_topic_is_forgotten(
    led_by, admin, wires: tuple[Wire, Wire]
) -> None:
    name = f"alike-{next(_numbers)}"
    other = led_by(f"alike-{next(_numbers)}", 1)
    for _ in range(2):
        topic = led_by(name, 1)
        for offset in range(3):
            for wire in wires:
                assert produce(wire, 8, other, 0).error_code == 0
            assert produce(wires[0], 8, topic, 0).base_offset == offset
        admin.delete_topics([topic])[topic].result(20)
