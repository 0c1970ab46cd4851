"""The Produce codec against kio, and the template of its common reply."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokerd.errors import KafkaError
from brokerd.protocol import messages
from brokerd.protocol.framing import parse_header
from brokerd.protocol.produce import (
    PartitionReply,
    ResponseTemplate,
    decode_produce,
    encode_produce_response,
)

VERSIONS = range(3, 12)
names = st.text(min_size=1, max_size=20)
topics = st.lists(
    st.fixed_dictionaries(
        {
            "name": names,
            "partition_data": st.lists(
                st.fixed_dictionaries(
                    {
                        "index": st.integers(0, 2**31 - 1),
                        "records": st.none() | st.binary(max_size=300),
                    }
                ),
                max_size=4,
            ),
        }
    ),
    max_size=4,
)


@given(st.sampled_from(VERSIONS), topics, st.none() | names, st.sampled_from([-1, 0, 1]))
def test_requests_decode_as_kio_wrote_them(
    version: int, wanted: list[dict[str, Any]], transactional_id: str | None, acks: int
) -> None:
    fields = {
        "transactional_id": transactional_id,
        "acks": acks,
        "timeout": 1234,
        "topic_data": wanted,
    }
    frame = memoryview(messages.encode_request(0, version, fields, 5, "client"))[4:]
    request = decode_produce(frame, parse_header(frame).body_position, version)
    assert (request.transactional_id, request.acks) == (transactional_id, acks)
    assert request.timeout_ms == 1234
    assert [(each.topic, each.partition, each.records) for each in request.partitions] == [
        (topic["name"], each["index"], each["records"])
        for topic in wanted
        for each in topic["partition_data"]
    ]


@given(
    st.sampled_from(VERSIONS),
    st.lists(
        st.builds(
            PartitionReply,
            topic=st.sampled_from(["a", "bé"]),
            partition=st.integers(0, 9),
            error=st.sampled_from([0, 3, 87]),
            base_offset=st.integers(-1, 2**62),
            log_append_time_ms=st.just(-1),
            log_start_offset=st.integers(-1, 2**62),
            message=st.none() | names,
            record_errors=st.lists(st.tuples(st.integers(0, 9), names), max_size=3),
        ),
        max_size=6,
    ),
)
def test_responses_read_by_kio_say_what_was_written(
    version: int, replies: list[PartitionReply]
) -> None:
    body = encode_produce_response(version, replies)
    answer = messages.decode_response(0, version, messages.response_frame(0, version, 9, body)[4:])
    found = [(topic.name, each) for topic in answer.responses for each in topic.partition_responses]
    assert len(found) == len(replies)
    for (topic, each), reply in zip(found, replies, strict=True):
        assert (topic, each.index, each.error_code) == reply[:3]
        assert each.base_offset == reply.base_offset
        if version >= 5:
            assert each.log_start_offset == reply.log_start_offset
        if version >= 8:
            assert each.error_message == reply.message
            told = [(one.batch_index, one.batch_index_error_message) for one in each.record_errors]
            assert told == reply.record_errors


@pytest.mark.parametrize("version", VERSIONS)
def test_the_template_packs_the_same_frame_as_the_encoder(version: int) -> None:
    template = ResponseTemplate(version, "some-topic", 7)
    reply = PartitionReply("some-topic", 7, 0, 123, 456, 12)
    body = encode_produce_response(version, [reply])
    assert template.frame(99, 123, 456, 12) == messages.response_frame(0, version, 99, body)


def test_only_a_single_partition_without_transaction_can_be_memoised() -> None:
    one = {"name": "t", "partition_data": [{"index": 0, "records": b"12"}]}
    for wanted, transactional_id, memoised in (
        ([one], None, True),
        ([one, one], None, False),
        ([one], "t", False),
    ):
        fields = {"transactional_id": transactional_id, "acks": 1, "topic_data": wanted}
        frame = memoryview(messages.encode_request(0, 9, fields, 5, "client"))[4:]
        request = decode_produce(frame, parse_header(frame).body_position, 9)
        assert (request.prefix_end >= 0) is memoised
        if memoised:
            assert frame[request.prefix_end :] == b"\x0312\x00\x00\x00"


@given(st.sampled_from(VERSIONS), st.binary(max_size=60))
def test_arbitrary_bytes_are_refused_or_decoded_but_never_crash(version: int, data: bytes) -> None:
    with suppress(KafkaError):
        decode_produce(memoryview(data), 0, version)
