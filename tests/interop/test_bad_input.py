"""What no client should send: each gets the protocol's own answer, and the broker goes on."""

import os
import struct
from collections.abc import Callable
from typing import Any

import pytest

from brokerd.errors import ErrorCode
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.messages import encode_request
from brokerd.protocol.records import Record, encode_batch
from tests.support.brokerd import Brokerd
from tests.support.wire import Wire

Names = Callable[[str], str]
NOW_MS = 1_700_000_000_000


def batch(number: int = 3) -> bytearray:
    return encode_batch([Record(0, NOW_MS, None, b"v%d" % each) for each in range(number)])


def produce(topic: str, records: bytes | None, partition: int = 0, acks: int = 1) -> dict[str, Any]:
    return {
        "acks": acks,
        "timeout": 5000,
        "topic_data": [
            {"name": topic, "partition_data": [{"index": partition, "records": records}]}
        ],
    }


def produced(wire: Wire, topic: str, records: bytes | None, **where: int) -> ErrorCode:
    """The error of one Produce v9."""
    answer = wire.ask(ApiKey.PRODUCE, 9, produce(topic, records, **where))
    return ErrorCode(int(answer.responses[0].partition_responses[0].error_code))


@pytest.fixture
def topic(broker: Brokerd, new_name: Names) -> str:
    """A topic that exists."""
    name = new_name("bad")
    with Wire(broker.port) as wire:
        answer = wire.ask(
            ApiKey.METADATA, 4, {"topics": [{"name": name}], "allow_auto_topic_creation": True}
        )
        assert answer.topics[0].error_code == 0
    return name


def still_serves(broker: Brokerd, topic: str) -> bool:
    with Wire(broker.port) as wire:
        return produced(wire, topic, bytes(batch())) is ErrorCode.NONE


def test_garbage_ends_its_own_connection_only(broker: Brokerd, topic: str) -> None:
    for garbage in (b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 64, bytes(64), b"\x00\x00\x00\x02ab"):
        with Wire(broker.port) as wire:
            wire.send(garbage)
            assert wire.is_closed()
    assert still_serves(broker, topic)


def test_a_frame_above_the_limit_ends_its_connection(broker: Brokerd, topic: str) -> None:
    with Wire(broker.port) as wire:
        wire.send(struct.pack(">ihhi", 2_000_001, 0, 9, 1))
        assert wire.is_closed()
    assert still_serves(broker, topic)


def test_a_frame_that_arrives_byte_by_byte_is_served(broker: Brokerd, topic: str) -> None:
    with Wire(broker.port) as wire:
        for byte in struct.pack(">ihhih", 10, ApiKey.API_VERSIONS, 0, 7, -1):
            wire.send(bytes([byte]))
        assert wire.frame()[:4] == struct.pack(">i", 7)


def test_a_truncated_request_ends_its_connection(broker: Brokerd, topic: str) -> None:
    for key, version in ((ApiKey.PRODUCE, 3), (ApiKey.FETCH, 4), (ApiKey.HEARTBEAT, 0)):
        with Wire(broker.port) as wire:
            wire.send(struct.pack(">ihhih", 12, key, version, 1, -1) + b"\x00\x63")
            assert wire.is_closed()
    assert still_serves(broker, topic)


def test_bad_batches_are_refused_and_the_connection_goes_on(broker: Brokerd, topic: str) -> None:
    wrong_crc = batch()
    wrong_crc[-1] ^= 1
    wrong_count = batch()
    wrong_count[57:61] = struct.pack(">i", 9)
    old_format = batch()
    old_format[16] = 1
    cases = {
        bytes(wrong_crc): ErrorCode.CORRUPT_MESSAGE,
        bytes(batch()[:-5]): ErrorCode.INVALID_RECORD,
        b"short": ErrorCode.INVALID_RECORD,
        bytes(old_format): ErrorCode.INVALID_RECORD,
        bytes(batch() + batch()): ErrorCode.INVALID_RECORD,
    }
    with Wire(broker.port) as wire:
        for records, error in cases.items():
            assert produced(wire, topic, records) is error
        assert produced(wire, topic, bytes(wrong_count)) is not ErrorCode.NONE
        assert produced(wire, topic, None) is ErrorCode.INVALID_RECORD
        assert produced(wire, topic, bytes(batch())) is ErrorCode.NONE


def test_unknown_topics_partitions_and_acks_are_said(broker: Brokerd, topic: str) -> None:
    good = bytes(batch())
    with Wire(broker.port) as wire:
        unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        assert produced(wire, "no-such-topic", good) is unknown
        assert produced(wire, topic, good, partition=99) is unknown
        assert produced(wire, topic, good, acks=5) is ErrorCode.INVALID_REQUIRED_ACKS


def test_acks_0_with_an_error_closes_the_connection_as_kafka_does(
    broker: Brokerd, topic: str
) -> None:
    with Wire(broker.port) as wire:
        wire.request(ApiKey.PRODUCE, 9, produce("no-such-topic", bytes(batch()), acks=0))
        assert wire.is_closed()


def test_a_fetch_of_a_bad_offset_or_partition_is_said_and_not_waited_for(
    broker: Brokerd, topic: str
) -> None:
    def fetched(partition: int, offset: int) -> ErrorCode:
        fields = {
            "replica_id": -1,
            "max_wait": 60_000,
            "min_bytes": 1,
            "max_bytes": 1000,
            "topics": [
                {
                    "topic": topic,
                    "partitions": [
                        {
                            "partition": partition,
                            "fetch_offset": offset,
                            "partition_max_bytes": 1000,
                        }
                    ],
                }
            ],
        }
        answer = wire.ask(ApiKey.FETCH, 11, fields)
        return ErrorCode(int(answer.responses[0].partitions[0].error_code))

    with Wire(broker.port) as wire:
        assert fetched(0, 10**9) is ErrorCode.OFFSET_OUT_OF_RANGE
        assert fetched(99, 0) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_old_produce_versions_are_refused_in_their_own_form(broker: Brokerd, topic: str) -> None:
    name = topic.encode()
    body = struct.pack(">hiih", 1, 1000, 1, len(name)) + name
    body += struct.pack(">iii", 1, 0, 4) + b"junk"
    with Wire(broker.port) as wire:
        for version, rest in ((0, 0), (1, 4), (2, 12)):
            head = struct.pack(">hhih", ApiKey.PRODUCE, version, 7, -1)
            wire.send(struct.pack(">i", len(head) + len(body)) + head + body)
            answer = wire.frame()
            assert len(answer) == 4 + 4 + 2 + len(name) + 4 + 14 + rest
            error = struct.unpack_from(">h", answer, 4 + 4 + 2 + len(name) + 4 + 4)[0]
            assert error == ErrorCode.UNSUPPORTED_VERSION


def test_a_newer_produce_version_is_refused_and_not_stored(broker: Brokerd, topic: str) -> None:
    """With the body of a version that is served: nothing of it may be taken for that."""
    frame = bytearray(encode_request(ApiKey.PRODUCE, 11, produce(topic, bytes(batch())), 1, "new"))
    struct.pack_into(">h", frame, 6, 12)
    with Wire(broker.port) as wire:
        wire.send(bytes(frame))
        assert wire.is_closed()
    with Wire(broker.port) as wire:
        end = wire.ask(
            ApiKey.LIST_OFFSETS, 1,
            {"topics": [{"name": topic, "partitions": [{"partition_index": 0, "timestamp": -1}]}]},
        )  # fmt: skip
        assert end.topics[0].partitions[0].offset == 0


def test_list_offsets_v0_that_is_cut_off_ends_its_connection(broker: Brokerd) -> None:
    head = struct.pack(">hhih", ApiKey.LIST_OFFSETS, 0, 5, -1)
    with Wire(broker.port) as wire:
        wire.send(struct.pack(">i", len(head)) + head)
        assert wire.is_closed()


def test_an_api_or_version_that_is_not_served_ends_its_connection(
    broker: Brokerd, topic: str
) -> None:
    for key, version in ((4711, 0), (-1, 0), (ApiKey.METADATA, 99), (ApiKey.METADATA, -1)):
        with Wire(broker.port) as wire:
            wire.send(struct.pack(">ihhih", 10, key, version, 99, -1))
            assert wire.is_closed()
    assert still_serves(broker, topic)


def test_a_newer_version_of_api_versions_is_told_the_one_to_ask_in(broker: Brokerd) -> None:
    with Wire(broker.port) as wire:
        wire.send(struct.pack(">ihhihb", 11, ApiKey.API_VERSIONS, 99, 5, -1, 0))
        told = struct.pack(">hihhh", ErrorCode.UNSUPPORTED_VERSION, 1, ApiKey.API_VERSIONS, 0, 4)
        assert wire.frame() == struct.pack(">i", 5) + told
        assert wire.ask(ApiKey.API_VERSIONS, 0, {}).error_code == ErrorCode.NONE


def test_replies_keep_the_order_of_their_requests(broker: Brokerd, topic: str) -> None:
    """A long poll, then a Produce elsewhere, then Metadata: answered in that order."""
    fetch = {
        "replica_id": -1,
        "max_wait": 300,
        "min_bytes": 1,
        "max_bytes": 1000,
        "topics": [
            {
                "topic": topic,
                "partitions": [{"partition": 1, "fetch_offset": 0, "partition_max_bytes": 1000}],
            }
        ],
    }
    with Wire(broker.port) as wire:
        sent = [
            wire.request(ApiKey.FETCH, 11, fetch),
            wire.request(ApiKey.PRODUCE, 9, produce(topic, bytes(batch()))),
            wire.request(ApiKey.METADATA, 4, {"topics": []}),
        ]
        answered = [struct.unpack(">i", wire.frame()[:4])[0] for _ in sent]
    assert answered == sent


def test_what_a_client_names_begins_no_line_of_the_log_and_steers_no_terminal(
    broker: Brokerd,
) -> None:
    forged = "2026-01-01 00:00:00,000 ERROR forged"
    names = [f"{end}{forged}\x1b[31m\x9b2J\x7f" for end in ("\n", "\r", "\x85", "\u2028", "\u202e")]
    names.append(f"{'x' * 9_000}\n{forged}")
    for name in names:
        with Wire(broker.port) as wire:
            wire.request(ApiKey.PRODUCE, 7, produce(name, bytes(batch()), acks=0))
            assert wire.is_closed()
    said = broker.said()
    assert said.count("a Produce with acks=0 failed") >= len(names)
    assert r"\n2026-01-01 00:00:00,000 ERROR forged\u001b[31m\u009b2J\u007f" in said
    assert [line for line in said.splitlines() if not line.isprintable()] == []
    assert [line for line in said.splitlines() if line.startswith(forged)] == []


def test_random_frames_never_stop_the_broker(broker: Brokerd, topic: str) -> None:
    for key in range(70):
        for version in (0, 3, 12):
            with Wire(broker.port) as wire:
                body = os.urandom(40)
                wire.send(struct.pack(">ihhih", 10 + len(body), key, version, 1, -1) + body)
    assert still_serves(broker, topic)
    assert "Traceback" not in broker.said()
