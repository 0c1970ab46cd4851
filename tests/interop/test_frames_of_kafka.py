"""Frames that cannot be served, to Apache Kafka and to brokerd: both end them alike."""

import struct
from contextlib import suppress

import pytest

from brokerd.protocol.api_keys import ApiKey
from tests.support.wire import Wire

pytestmark = pytest.mark.kafka


def frame(
    key: int, version: int, body: bytes, client: bytes = b"\0\1x", tags: bytes = b""
) -> bytes:
    payload = struct.pack(">hhi", key, version, 7) + client + tags + body
    return struct.pack(">i", len(payload)) + payload


POLL = {
    "replica_id": -1, "max_wait": 300, "min_bytes": 1, "max_bytes": 1000,
    "topics": [{"topic": "half", "partitions": [
        {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1000}]}],
}  # fmt: skip
NO_TAGS = b"\0"
UNREADABLE = {
    "an API that nobody knows": frame(4711, 0, b""),
    "a negative API": frame(-1, 0, b""),
    "an API of KRaft alone": frame(52, 0, bytes(6), tags=NO_TAGS),
    "a version that nobody knows": frame(ApiKey.METADATA, 99, b""),
    "a negative version": frame(ApiKey.METADATA, -1, b""),
    "a newer Produce": frame(ApiKey.PRODUCE, 99, bytes(2)),
    "a newer Fetch": frame(ApiKey.FETCH, 99, bytes(2)),
    "a newer SaslHandshake": frame(ApiKey.SASL_HANDSHAKE, 9, b"\0\5PLAIN"),
    "a newer ApiVersions": frame(ApiKey.API_VERSIONS, 99, b"\2a\2b\0", tags=NO_TAGS),
    "a newer ApiVersions of nothing but tags": frame(ApiKey.API_VERSIONS, 5, b"", tags=NO_TAGS),
    "a newer ApiVersions without tags": frame(ApiKey.API_VERSIONS, 5, b""),
    "an ApiVersions of a negative version": frame(ApiKey.API_VERSIONS, -1, b""),
    "a negative ApiVersions": frame(ApiKey.API_VERSIONS, -1, b""),
    "ApiVersions that is cut off": frame(ApiKey.API_VERSIONS, 3, b"", tags=NO_TAGS),
    "a Heartbeat that is cut off": frame(ApiKey.HEARTBEAT, 0, b"\0\x63"),
    "a Produce that is cut off": frame(ApiKey.PRODUCE, 3, bytes(2)),
    "a Fetch that is cut off": frame(ApiKey.FETCH, 4, bytes(2)),
    "FindCoordinator that is cut off": frame(ApiKey.FIND_COORDINATOR, 0, bytes(1)),
    "more items than bytes": frame(ApiKey.METADATA, 1, b"\x7f\xff\xff\xff"),
    "a null that may not be": frame(ApiKey.METADATA, 1, b"\0\0\0\1\xff\xff"),
    "bytes behind a Heartbeat": frame(ApiKey.HEARTBEAT, 0, b"\0\1g\0\0\0\0\0\1m" + b"zzzz"),
    "bytes behind a Produce": frame(
        ApiKey.PRODUCE, 9, b"\0" + struct.pack(">hi", 1, 1000) + b"\1\0" + b"zzz", tags=NO_TAGS
    ),
    "bytes behind a Fetch": frame(
        ApiKey.FETCH, 4, struct.pack(">iiiibi", -1, 0, 0, 1000, 0, 0) + b"zzz"
    ),
    "a client id that is cut off": frame(ApiKey.API_VERSIONS, 0, b"", client=b"\0\x7fx"),
    "a client id of length -2": frame(ApiKey.API_VERSIONS, 0, b"", client=b"\xff\xfe"),
    "tags that are cut off": frame(ApiKey.API_VERSIONS, 3, b"", tags=b"\5"),
    "a tag that nobody knows": frame(ApiKey.API_VERSIONS, 3, b"\2a\2b\0", tags=b"\1\7\2zz"),
    "SASL on a listener without": frame(ApiKey.SASL_HANDSHAKE, 1, b"\0\5PLAIN"),
    "an empty frame": bytes(4),
    "a frame without a header": b"\0\0\0\4abcd",
    "a negative size": b"\xff\xff\xff\xfa" + bytes(20),
    "a huge size": b"\x7f\xff\xff\xff" + bytes(20),
}


@pytest.mark.parametrize("what", UNREADABLE)
def test_what_cannot_be_served_ends_as_with_apache_kafka(
    kafka_port: int, brokerd_port: int, what: str
) -> None:
    """Closed, or answered with the same first field, which is mostly the error."""
    fates = []
    for port in (kafka_port, brokerd_port):
        with Wire(port) as wire:
            wire.send(UNREADABLE[what])
            try:
                fates.append(wire.frame()[:6])
            except (EOFError, ConnectionResetError):
                fates.append(b"closed")
    assert fates[1] == fates[0]


def test_who_stops_sending_is_answered_what_he_asked_before_as_by_apache_kafka(
    kafka_port: int, brokerd_port: int
) -> None:
    """A long poll, what comes behind it, and a request that ends in the middle."""
    answered = []
    for port in (kafka_port, brokerd_port):
        with Wire(port) as wire:
            wire.ask(ApiKey.METADATA, 4, {"topics": [{"name": "half"}]})
            wire.request(ApiKey.FETCH, 4, POLL)
            wire.request(ApiKey.METADATA, 1, {"topics": []})
            wire.request(ApiKey.FETCH, 4, POLL)
            wire.send(frame(ApiKey.METADATA, 1, bytes(4))[:-1])
            wire.stop_sending()
            frames = []
            with suppress(EOFError):
                while True:
                    frames.append(wire.frame()[:4])
            answered.append(frames)
    assert answered[1] == answered[0] == [struct.pack(">i", number) for number in (2, 3, 4)]
