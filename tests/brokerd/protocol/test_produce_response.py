"""Produce responses against kio, and the template of the common one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokerd.protocol import messages
from brokerd.protocol.produce_response import (
    PartitionReply,
    ResponseTemplate,
    encode_produce_response,
)

VERSIONS = range(3, 12)
names = st.text(min_size=1, max_size=20)


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
