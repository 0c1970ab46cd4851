"""Fetch responses by hand against kio's reader."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokerd.errors import ErrorCode
from brokerd.protocol import messages
from brokerd.protocol.fetch_response import (
    Endpoint,
    FetchReply,
    ResponseTemplate,
    encode_fetch_response,
)

VERSIONS = range(4, 18)
IDS = {"a": UUID(int=1), "b": UUID(int=2**100)}


@dataclass
class Range:
    """Stands for a range of a log file."""

    data: bytes

    @property
    def size_bytes(self) -> int:
        return len(self.data)


def joined(parts: list[Any]) -> bytes:
    return b"".join(part.data if isinstance(part, Range) else bytes(part) for part in parts)


OFFSETS = st.integers(-1, 2**62)
REPLIES = st.builds(
    FetchReply,
    topic=st.sampled_from(["a", "b"]),
    partition=st.integers(0, 9),
    error=st.sampled_from([0, 1, 6]),
    high_watermark=OFFSETS,
    last_stable_offset=OFFSETS,
    log_start_offset=OFFSETS,
    records=st.none() | st.binary(max_size=300).map(Range),
    aborted=st.none() | st.lists(st.tuples(OFFSETS, OFFSETS), max_size=200),
    diverging=st.none() | st.tuples(st.integers(0, 9), OFFSETS),
    leader=st.none() | st.tuples(st.integers(0, 9), st.integers(0, 9)),
)


def decoded(frame: bytes, version: int) -> Any:
    assert int.from_bytes(frame[:4], "big") == len(frame) - 4
    assert int.from_bytes(frame[4:8], "big") == 9
    return messages.decode_response(1, version, frame[4:])


@given(st.sampled_from(VERSIONS), st.lists(REPLIES, max_size=6))
def test_responses_read_by_kio_say_what_was_written(
    version: int, replies: list[FetchReply]
) -> None:
    sent = [reply._replace(topic_id=IDS[reply.topic].bytes) for reply in replies]
    answer = decoded(joined(encode_fetch_response(version, 9, 0, sent, 77)), version)
    found = [(topic, each) for topic in answer.responses for each in topic.partitions]
    assert len(found) == len(replies)
    if version >= 7:
        assert answer.session_id == 77
    for (topic, each), reply in zip(found, replies, strict=True):
        if version >= 13:
            assert topic.topic_id == IDS[reply.topic]
        else:
            assert topic.topic == reply.topic
        assert (each.partition_index, each.error_code) == (reply.partition, reply.error)
        assert each.high_watermark == reply.high_watermark
        assert each.last_stable_offset == reply.last_stable_offset
        assert (each.records or b"") == (reply.records.data if reply.records else b"")
        if version >= 5:
            assert each.log_start_offset == reply.log_start_offset
        aborted = each.aborted_transactions
        pairs = None if aborted is None else [(t.producer_id, t.first_offset) for t in aborted]
        assert pairs == reply.aborted
        if version >= 12:
            end, leader = each.diverging_epoch, each.current_leader
            assert (end.epoch, end.end_offset) == (reply.diverging or (-1, -1))
            assert (leader.leader_id, leader.leader_epoch) == (reply.leader or (-1, -1))


def test_an_error_of_the_session_stands_at_the_top() -> None:
    parts = encode_fetch_response(11, 9, ErrorCode.FETCH_SESSION_ID_NOT_FOUND, [])
    answer = decoded(joined(parts), 11)
    assert (answer.error_code, answer.session_id) == (ErrorCode.FETCH_SESSION_ID_NOT_FOUND, 0)


@pytest.mark.parametrize("version", [12, 15, 16, 17])
def test_where_another_leader_is_stands_at_the_end_from_version_16_on(version: int) -> None:
    endpoints = [Endpoint(1, "here", 9092, None), Endpoint(2, "é" * 70, 19092, "r1")] * 3
    answer = decoded(joined(encode_fetch_response(version, 9, 0, [], 0, endpoints)), version)
    if version >= 16:
        found = [(e.node_id, e.host, e.port, e.rack) for e in answer.node_endpoints]
        assert found == endpoints


@given(st.sampled_from(VERSIONS), REPLIES, st.integers(0, 2**31 - 1))
def test_a_template_says_what_the_encoder_says(
    version: int, reply: FetchReply, correlation_id: int
) -> None:
    reply = reply._replace(
        error=0, records=reply.records or Range(b"r" * 200), diverging=None, leader=None,
        topic_id=IDS[reply.topic].bytes,
    )  # fmt: skip
    template = ResponseTemplate(version, reply.topic, reply.topic_id, reply.partition)
    parts = template.parts(
        correlation_id, reply.high_watermark, reply.last_stable_offset, reply.log_start_offset,
        reply.aborted, reply.records,
    )  # fmt: skip
    assert joined(parts) == joined(encode_fetch_response(version, correlation_id, 0, [reply]))
