"""Produce requests, decoded, against kio."""

from contextlib import suppress
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from brokerd.errors import KafkaError
from brokerd.protocol import messages
from brokerd.protocol.framing import parse_header
from brokerd.protocol.produce_request import decode_produce

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
