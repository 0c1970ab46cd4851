"""The Fetch codec against kio."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokerd.errors import ErrorCode, KafkaError
from brokerd.protocol import messages
from brokerd.protocol.fetch import FetchReply, decode_fetch, encode_fetch_response
from brokerd.protocol.framing import parse_header

VERSIONS = range(4, 13)


@dataclass
class Range:
    """Stands for a range of a log file."""

    data: bytes

    @property
    def size_bytes(self) -> int:
        return len(self.data)


@pytest.mark.parametrize("version", VERSIONS)
def test_requests_decode_as_kio_wrote_them(version: int) -> None:
    partitions = [
        {
            "partition": index,
            "current_leader_epoch": 4,
            "fetch_offset": 10 + index,
            "last_fetched_epoch": 3,
            "log_start_offset": -1,
            "partition_max_bytes": 1 << 20,
        }
        for index in (0, 5)
    ]
    fields = {
        "replica_id": -1,
        "max_wait": 500,
        "min_bytes": 1,
        "max_bytes": 50 << 20,
        "isolation_level": 1,
        "session_id": 77,
        "session_epoch": 2,
        "topics": [
            {"topic": "a", "partitions": partitions},
            {"topic": "b", "partitions": partitions[:1]},
        ],
        "forgotten_topics_data": [{"topic": "c", "partitions": [1]}],
        "rack_id": "r1",
    }
    frame = memoryview(messages.encode_request(1, version, fields, 5, "client"))[4:]
    request = decode_fetch(frame, parse_header(frame).body_position, version)
    assert (request.replica_id, request.max_wait_ms, request.min_bytes) == (-1, 500, 1)
    assert (request.max_bytes, request.isolation_level) == (50 << 20, 1)
    if version >= 7:
        assert (request.session_id, request.session_epoch) == (77, 2)
    assert [(each.topic, each.partition, each.offset) for each in request.partitions] == [
        ("a", 0, 10),
        ("a", 5, 15),
        ("b", 0, 10),
    ]
    assert request.partitions[0].max_bytes == 1 << 20
    assert request.partitions[0].leader_epoch == (4 if version >= 9 else -1)


def joined(parts: list[Any]) -> bytes:
    return b"".join(part.data if isinstance(part, Range) else bytes(part) for part in parts)


@given(
    st.sampled_from(VERSIONS),
    st.lists(
        st.builds(
            FetchReply,
            topic=st.sampled_from(["a", "b"]),
            partition=st.integers(0, 9),
            error=st.sampled_from([0, 1, 6]),
            high_watermark=st.integers(-1, 2**62),
            last_stable_offset=st.integers(-1, 2**62),
            log_start_offset=st.integers(-1, 2**62),
            records=st.none() | st.binary(max_size=300).map(Range),
        ),
        max_size=6,
    ),
)
def test_responses_read_by_kio_say_what_was_written(
    version: int, replies: list[FetchReply]
) -> None:
    frame = joined(encode_fetch_response(version, 9, 0, replies))
    assert int.from_bytes(frame[:4], "big") == len(frame) - 4
    assert int.from_bytes(frame[4:8], "big") == 9
    answer = messages.decode_response(1, version, frame[4:])
    found = [(topic.topic, each) for topic in answer.responses for each in topic.partitions]
    assert len(found) == len(replies)
    for (topic, each), reply in zip(found, replies, strict=True):
        assert (topic, each.partition_index, each.error_code) == reply[:3]
        assert each.high_watermark == reply.high_watermark
        assert each.last_stable_offset == reply.last_stable_offset
        assert (each.records or b"") == (reply.records.data if reply.records else b"")
        if version >= 5:
            assert each.log_start_offset == reply.log_start_offset


def test_an_error_of_the_session_stands_at_the_top() -> None:
    parts = encode_fetch_response(11, 3, ErrorCode.FETCH_SESSION_ID_NOT_FOUND, [])
    answer = messages.decode_response(1, 11, joined(parts)[4:])
    assert (answer.error_code, answer.session_id) == (ErrorCode.FETCH_SESSION_ID_NOT_FOUND, 0)


@given(st.sampled_from(VERSIONS), st.binary(max_size=80))
def test_arbitrary_bytes_are_refused_or_decoded_but_never_crash(version: int, data: bytes) -> None:
    with suppress(KafkaError):
        decode_fetch(memoryview(data), 0, version)
