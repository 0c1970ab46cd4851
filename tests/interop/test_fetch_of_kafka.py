"""The same Fetches to Apache Kafka and to brokerd where something cannot be read: what is told, in
which order, and whether the others are waited for."""

from collections.abc import Callable
from typing import Any, TypeVar
from uuid import UUID

import pytest

from brokerd.errors import ErrorCode
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.records import Record, encode_batch
from tests.support.waiting import wait_until
from tests.support.wire import Wire

pytestmark = pytest.mark.kafka

LONG_MS = 60_000
"""Longer than anybody listens here: who answers did not wait for it."""
NOWHERE = UUID(int=77)
VERSIONS = [4, 11, 12, 13, 17]

Told = list[tuple[Any, ...]]
T = TypeVar("T")


class Peer:
    """One broker with a topic `idle` of its own to each test."""

    def __init__(self, port: int, idle: str) -> None:
        self.port = port
        self.idle = idle
        self.idle_id = self.create(idle)

    def create(self, name: str) -> UUID:
        """A topic of one partition that has its leader; its id."""
        made = {"name": name, "num_partitions": 1, "replication_factor": 1}
        with Wire(self.port) as wire:
            fields = {"topics": [made], "timeout": 20_000}
            wait_until(  # a namesake may be being deleted
                lambda: not wire.ask(ApiKey.CREATE_TOPICS, 5, fields).topics[0].error_code
            )
            wait_until(lambda: self._is_led(wire, name))
            return UUID(int=self._told(wire, name).topic_id.int)

    def delete(self, name: str) -> None:
        with Wire(self.port) as wire:
            wire.ask(ApiKey.DELETE_TOPICS, 5, {"topic_names": [name], "timeout": 20_000})
            wait_until(lambda: self._told(wire, name).error_code)

    def _is_led(self, wire: Wire, name: str) -> bool:
        partitions = self._told(wire, name).partitions
        return bool(partitions) and not partitions[0].error_code

    @staticmethod
    def _told(wire: Wire, name: str) -> Any:
        asked = {"topics": [{"name": name}], "allow_auto_topic_creation": False}
        return wire.ask(ApiKey.METADATA, 12, asked).topics[0]

    def write(self) -> None:
        records = bytes(encode_batch([Record(0, 1_700_000_000_000, None, b"v")]))
        topic = {"name": self.idle, "partition_data": [{"index": 0, "records": records}]}
        with Wire(self.port) as wire:
            wire.ask(ApiKey.PRODUCE, 8, {"acks": -1, "timeout": 5000, "topic_data": [topic]})

    def request(
        self, wire: Wire, version: int, *partitions: tuple[str | UUID, int],
        session: tuple[int, int] = (0, -1), wait_ms: int = LONG_MS, offset: int = 0,
    ) -> None:  # fmt: skip
        key = "topic_id" if version >= 13 else "topic"
        rows = [
            {key: topic, "partitions": [{
                "partition": index, "fetch_offset": offset if index == 0 else 0,
                "partition_max_bytes": 1 << 20, "current_leader_epoch": -1,
                "last_fetched_epoch": -1}]}
            for topic, index in partitions
        ]  # fmt: skip
        fields: dict[str, Any] = {
            "max_wait": wait_ms, "min_bytes": 1, "max_bytes": 1 << 20, "isolation_level": 0,
            "topics": rows, "rack_id": "",
        }  # fmt: skip
        if version < 15:
            fields["replica_id"] = -1
        if version >= 7:
            fields |= {"session_id": session[0], "session_epoch": session[1]}
            fields["forgotten_topics_data"] = []
        wire.request(ApiKey.FETCH, version, fields)

    def named(self, version: int) -> str | UUID:
        return self.idle_id if version >= 13 else self.idle


def unknown(version: int) -> str | UUID:
    return NOWHERE if version >= 13 else "nowhere"


@pytest.fixture
def peers(kafka_port: int, brokerd_port: int, new_name: Callable[[str], str]) -> list[Peer]:
    """Apache Kafka and brokerd."""
    name = new_name("idle")
    return [Peer(port, name) for port in (kafka_port, brokerd_port)]


def told_alike(peers: list[Peer], ask: Callable[[Peer, Wire], T]) -> T:
    """What both are heard to tell."""
    heard = []
    for peer in peers:
        with Wire(peer.port) as wire:
            heard.append(ask(peer, wire))
    by_kafka, by_brokerd = heard
    assert by_brokerd == by_kafka
    return by_brokerd


def told(peer: Peer, answer: Any) -> Told:
    """What an answer says of each partition, in its order."""
    idle = (peer.idle, peer.idle_id)
    return [
        (
            "idle" if getattr(topic, "topic", None) in idle
            or getattr(topic, "topic_id", None) in idle else "unknown",
            row.partition_index, ErrorCode(row.error_code).name, row.high_watermark,
            row.last_stable_offset, getattr(row, "log_start_offset", None),
            row.aborted_transactions, len(row.records or b"") > 0,
        )
        for topic in answer.responses
        for row in topic.partitions
    ]  # fmt: skip


@pytest.mark.parametrize("version", VERSIONS)
def test_what_is_unknown_does_not_end_the_wait_for_the_others_and_is_told_behind_them(
    peers: list[Peer], version: int
) -> None:
    def ask(peer: Peer, wire: Wire) -> Told:
        idle = peer.named(version)
        peer.request(wire, version, (unknown(version), 0), (idle, 0), (idle, 9))
        assert wire.hears_nothing(0.2)
        peer.write()
        return told(peer, wire.answer(ApiKey.FETCH, version))

    assert [row[-1] for row in told_alike(peers, ask)] == [True, False, False]


@pytest.mark.parametrize("version", VERSIONS)
def test_where_nothing_else_is_asked_for_the_unknown_is_told_at_once(
    peers: list[Peer], version: int
) -> None:
    def ask(peer: Peer, wire: Wire) -> Told:
        peer.request(wire, version, (unknown(version), 0), (peer.named(version), 9))
        return told(peer, wire.answer(ApiKey.FETCH, version))

    assert len(told_alike(peers, ask)) == 2


@pytest.mark.parametrize("version", VERSIONS)
def test_another_error_is_told_at_once_with_the_unknown_behind_it(
    peers: list[Peer], version: int
) -> None:
    def ask(peer: Peer, wire: Wire) -> Told:
        peer.request(wire, version, (unknown(version), 0), (peer.named(version), 0), offset=5)
        return told(peer, wire.answer(ApiKey.FETCH, version))

    assert told_alike(peers, ask)[0][2] == "OFFSET_OUT_OF_RANGE"


@pytest.mark.parametrize("version", [11, 17])
def test_a_session_with_something_unknown_in_it_waits_for_the_others_each_time(
    peers: list[Peer], version: int
) -> None:
    def ask(peer: Peer, wire: Wire) -> list[Told]:
        named = [(unknown(version), 0), (peer.named(version), 0)]
        peer.request(wire, version, *named, session=(0, 0), wait_ms=0)
        first = wire.answer(ApiKey.FETCH, version)
        heard = [told(peer, first)]
        for epoch in (1, 2):
            peer.request(wire, version, session=(first.session_id, epoch), wait_ms=500)
            assert wire.hears_nothing(0.2)
            heard.append(told(peer, wire.answer(ApiKey.FETCH, version)))
        return heard

    assert [len(rows) for rows in told_alike(peers, ask)] == [2, 1, 1]


@pytest.mark.parametrize("version", [11, 17])
def test_a_topic_that_is_deleted_during_the_wait_ends_it(
    peers: list[Peer], new_name: Callable[[str], str], version: int
) -> None:
    name = new_name("gone")

    def ask(peer: Peer, wire: Wire) -> Told:
        topic_id = peer.create(name)
        gone = topic_id if version >= 13 else name
        peer.request(wire, version, (unknown(version), 0), (gone, 0), (peer.named(version), 0))
        assert wire.hears_nothing(0.2)
        peer.delete(name)
        return told(peer, wire.answer(ApiKey.FETCH, version))

    assert [row[0] for row in told_alike(peers, ask)] == ["unknown", "idle", "unknown"]


@pytest.mark.parametrize("made_anew", [False, True])
def test_a_session_by_ids_goes_by_the_name_of_a_topic_that_is_deleted(
    peers: list[Peer], new_name: Callable[[str], str], made_anew: bool
) -> None:
    name = new_name("gone")

    def ask(peer: Peer, wire: Wire) -> list[Told]:
        gone = peer.create(name)
        peer.request(wire, 17, (gone, 0), (peer.idle_id, 0), session=(0, 0), wait_ms=0)
        first = wire.answer(ApiKey.FETCH, 17)
        heard = [told(peer, first)]
        peer.delete(name)
        if made_anew:
            peer.create(name)
        for epoch in (1, 2):
            wait_ms = LONG_MS if made_anew else 500
            peer.request(wire, 17, session=(first.session_id, epoch), wait_ms=wait_ms)
            assert made_anew or wire.hears_nothing(0.2)
            heard.append(told(peer, wire.answer(ApiKey.FETCH, 17)))
        return heard

    code = "INCONSISTENT_TOPIC_ID" if made_anew else "UNKNOWN_TOPIC_OR_PARTITION"
    _, *later = told_alike(peers, ask)
    assert [row[2] for rows in later for row in rows] == [code, code]
