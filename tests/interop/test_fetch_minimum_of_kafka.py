"""The same Fetches for more than one byte to Apache Kafka and to brokerd: which of them are
answered at once, and which wait for more."""

from collections.abc import Callable
from typing import Any

import pytest

from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.fetch_request import READ_COMMITTED
from brokerd.protocol.records import Record, encode_batch
from tests.support.waiting import wait_until
from tests.support.wire import Wire

pytestmark = pytest.mark.kafka

LONG_MS = 60_000
"""Longer than anybody listens here: who answers did not wait for it."""
SEGMENT_BYTES = 20_000
SMALL, LARGE = 5_000, 500_000
"""Bytes of a batch's record: three small batches make a segment."""
MANY = 10
"""Batches of a topic: the last small one has a segment of its own."""
NO_BOUND = 50 << 20


class Peer:
    """One broker with its topics: of small segments, and two of one segment each."""

    def __init__(self, port: int, names: list[str]) -> None:
        self.port = port
        self.names = names
        kept = [{"name": "retention.ms", "value": "-1"}]
        rolled = [*kept, {"name": "segment.bytes", "value": str(SEGMENT_BYTES)}]
        topics = [
            {"name": name, "num_partitions": 1, "replication_factor": 1, "configs": configs}
            for name, configs in zip(names, (rolled, kept, kept), strict=True)
        ]
        with Wire(port) as wire:
            wire.ask(ApiKey.CREATE_TOPICS, 5, {"topics": topics, "timeout": 20_000})
            for name, size in zip(names, (SMALL, LARGE, LARGE), strict=True):
                wait_until(lambda name=name, size=size: self._write(wire, name, size))
                for _ in range(MANY - 1):
                    assert self._write(wire, name, size)

    @staticmethod
    def _write(wire: Wire, name: str, size: int) -> bool:
        records = bytes(encode_batch([Record(0, 1_700_000_000_000, None, bytes(size))]))
        topic = {"name": name, "partition_data": [{"index": 0, "records": records}]}
        asked = {"acks": -1, "timeout": 5000, "topic_data": [topic]}
        (row,) = wire.ask(ApiKey.PRODUCE, 8, asked).responses[0].partition_responses
        return not row.error_code

    def request(self, wire: Wire, *topics: int, **changes: Any) -> None:
        """Of these topics; `changes` are of the request, or of each partition."""
        row = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": NO_BOUND}
        row |= {name: changes.pop(name) for name in tuple(changes) if name in row}
        row |= {"current_leader_epoch": -1, "last_fetched_epoch": -1}
        fields = {
            "replica_id": -1, "max_wait": LONG_MS, "max_bytes": NO_BOUND, "isolation_level": 0,
            "session_id": 0, "session_epoch": -1, "forgotten_topics_data": [], "rack_id": "",
            "topics": [{"topic": self.names[topic], "partitions": [row]} for topic in topics],
        }  # fmt: skip
        wire.request(ApiKey.FETCH, 11, {**fields, **changes})


@pytest.fixture(scope="module")
def peers(kafka_port: int, brokerd_port: int) -> list[Peer]:
    """Apache Kafka and brokerd."""
    return [
        Peer(port, [f"minimum-{number}" for number in range(3)])
        for port in (kafka_port, brokerd_port)
    ]


SEGMENTS, ONE, TWO = range(3)
AT_ONCE = [
    ((SEGMENTS,), {"min_bytes": SEGMENT_BYTES * 5, "fetch_offset": 2}),  # an old segment's end
    ((SEGMENTS,), {"min_bytes": SEGMENT_BYTES * 500}),
    ((SEGMENTS,), {"min_bytes": SEGMENT_BYTES * 5, "isolation_level": READ_COMMITTED}),
    ((SEGMENTS,), {"min_bytes": SEGMENT_BYTES * 5, "partition_max_bytes": 100}),
    ((ONE, SEGMENTS), {"min_bytes": LARGE * 50, "fetch_offset": MANY - 3}),
    ((ONE,), {"min_bytes": LARGE * 50, "max_bytes": 700_000}),  # no more than may be answered
    ((ONE,), {"min_bytes": 10, "max_bytes": 0, "fetch_offset": MANY}),
    ((ONE,), {"min_bytes": 600_000, "partition_max_bytes": 600_000}),  # no batch ends there
    ((ONE, TWO), {"min_bytes": 1_200_000, "partition_max_bytes": 600_000}),
    ((ONE, TWO), {"min_bytes": 650_000, "max_bytes": 650_000, "partition_max_bytes": LARGE + 100}),
]
WAITING = [
    ((SEGMENTS,), {"min_bytes": SEGMENT_BYTES, "fetch_offset": MANY - 1}),  # the newest segment
    ((SEGMENTS,), {"min_bytes": 2, "fetch_offset": MANY}),
    ((ONE,), {"min_bytes": LARGE * 11}),
    ((ONE,), {"min_bytes": 600_001, "partition_max_bytes": 600_000}),
    ((ONE, TWO), {"min_bytes": 1_200_001, "partition_max_bytes": 600_000}),
    ((ONE, TWO), {"min_bytes": LARGE * 2 + 10_000, "fetch_offset": MANY - 1}),
    ((ONE, TWO), {"min_bytes": LARGE + 9_000, "fetch_offset": MANY - 1,
                  "partition_max_bytes": 10_000}),  # the second has no room for a batch
]  # fmt: skip


@pytest.mark.parametrize(("topics", "asked"), AT_ONCE)
def test_what_can_be_had_no_larger_is_not_waited_for(
    peers: list[Peer], topics: tuple[int, ...], asked: dict[str, Any]
) -> None:
    for peer in peers:
        with Wire(peer.port) as wire:
            peer.request(wire, *topics, **asked)
            told = wire.answer(ApiKey.FETCH, 11).responses
            assert [topic.partitions[0].error_code for topic in told] == [0] * len(topics)


@pytest.mark.parametrize(("topics", "asked"), WAITING)
def test_what_may_come_yet_is_waited_for(
    peers: list[Peer], topics: tuple[int, ...], asked: dict[str, Any]
) -> None:
    for peer in peers:
        with Wire(peer.port) as wire:
            peer.request(wire, *topics, **asked)
            assert wire.hears_nothing(0.2)


@pytest.mark.parametrize("isolation", [0, READ_COMMITTED])
def test_a_session_gets_each_segment_at_once_and_waits_in_the_newest(
    peers: list[Peer], isolation: int
) -> None:
    for peer in peers:
        with Wire(peer.port) as wire:
            asked = {"min_bytes": SEGMENT_BYTES * 5, "isolation_level": isolation}
            peer.request(wire, SEGMENTS, **asked, session_epoch=0)
            first = wire.answer(ApiKey.FETCH, 11)
            for epoch, offset in enumerate((3, 6, 9), 1):
                of_session = {"session_id": first.session_id, "session_epoch": epoch}
                peer.request(wire, SEGMENTS, **asked, **of_session, fetch_offset=offset)
                if offset < 9:
                    (topic,) = wire.answer(ApiKey.FETCH, 11).responses
                    assert len(topic.partitions[0].records) > SMALL * 2
            assert wire.hears_nothing(0.2)


def test_a_segment_that_is_rolled_ends_the_wait(
    peers: list[Peer], new_name: Callable[[str], str]
) -> None:
    names = [new_name("rolled") for _ in range(3)]
    for peer in peers:
        fresh = Peer(peer.port, names)
        with Wire(peer.port) as wire, Wire(peer.port) as other:
            fresh.request(wire, SEGMENTS, min_bytes=SEGMENT_BYTES * 50, fetch_offset=MANY - 1)
            assert wire.hears_nothing(0.2)
            for _ in range(3):
                assert fresh._write(other, fresh.names[SEGMENTS], SMALL)
            (topic,) = wire.answer(ApiKey.FETCH, 11).responses
            assert len(topic.partitions[0].records) > SMALL * 2
