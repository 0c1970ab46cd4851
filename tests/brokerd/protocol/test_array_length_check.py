"""No length and no count in a request may promise more than its bytes hold."""

import struct
from datetime import timedelta
from typing import Any

import pytest

from brokerd.errors import ErrorCode, KafkaError
from brokerd.protocol import messages
from brokerd.protocol.api_keys import ADVERTISED, ApiKey
from brokerd.protocol.array_length_check import ITEMS_MAX, Progress, walker
from brokerd.protocol.schema_writer import shapes
from tests.brokerd.protocol.test_messages import SERVED, sample

MANY = 2**31 - 1
COMPACT_MANY = b"\xff\xff\xff\xff\x0f"
NULL, COMPACT_NULL = struct.pack(">i", -1), b"\x00"


def refused(key: int, version: int, body: bytes) -> bool:
    with pytest.raises(KafkaError) as caught:
        messages.decode_request(key, version, body)
    return caught.value.code is ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize(("key", "version"), SERVED)
def test_a_whole_request_is_walked_to_its_end_and_a_cut_one_is_refused(
    key: int, version: int
) -> None:
    entity_type = messages.request_type(key, version)
    assert entity_type is not None
    frame = messages.encode_request(key, version, sample(entity_type), 7, None)
    body = memoryview(frame)[4 + 8 + 2 + (1 if entity_type.__flexible__ else 0) :]
    assert walker(entity_type).walk(body, 0, Progress(100)) == len(body)
    for end in range(len(body)):
        assert refused(key, version, body[:end])


@pytest.mark.parametrize(
    ("key", "version", "before"),
    [
        (ApiKey.METADATA, 4, b""), (ApiKey.CREATE_TOPICS, 2, b""), (ApiKey.DELETE_TOPICS, 1, b""),
        (ApiKey.DESCRIBE_GROUPS, 0, b""), (ApiKey.LIST_OFFSETS, 1, bytes(4)),
        (ApiKey.OFFSET_FETCH, 1, bytes(2)), (ApiKey.CREATE_TOPICS, 2, b"\0\0\0\1\0\1t" + bytes(6)),
    ],
)  # fmt: skip
@pytest.mark.parametrize("count", [MANY, 1000, -2, -(2**31)])
def test_an_array_that_claims_more_items_than_there_are_bytes_is_refused(
    key: ApiKey, version: int, before: bytes, count: int
) -> None:
    assert refused(key, version, before + struct.pack(">i", count) + bytes(20))


@pytest.mark.parametrize("key", [ApiKey.METADATA, ApiKey.CREATE_TOPICS, ApiKey.DESCRIBE_GROUPS])
@pytest.mark.parametrize("count", [COMPACT_MANY, b"\xff" * 10, b"\xff\xff\x03"])
def test_a_compact_array_is_held_to_the_same(key: ApiKey, count: bytes) -> None:
    version = {ApiKey.METADATA: 9, ApiKey.CREATE_TOPICS: 5, ApiKey.DESCRIBE_GROUPS: 5}[key]
    assert refused(key, version, count + bytes(20))


def test_all_arrays_together_may_have_so_many_items() -> None:
    def groups(number: int) -> bytes:
        return struct.pack(">i", number) + b"\x00\x01g" * number

    most = messages.decode_request(ApiKey.DESCRIBE_GROUPS, 0, groups(ITEMS_MAX))
    assert len(most.groups) == ITEMS_MAX
    assert refused(ApiKey.DESCRIBE_GROUPS, 0, groups(ITEMS_MAX + 1))


def test_null_is_an_array_only_where_the_message_says_so() -> None:
    assert messages.decode_request(ApiKey.METADATA, 4, NULL + b"\x00").topics is None
    assert messages.decode_request(ApiKey.METADATA, 9, COMPACT_NULL + bytes(4)).topics is None
    assert refused(ApiKey.DESCRIBE_GROUPS, 0, NULL)
    assert refused(ApiKey.DESCRIBE_GROUPS, 5, COMPACT_NULL + bytes(4))
    assert refused(ApiKey.CREATE_TOPICS, 2, NULL + bytes(5))


UNKNOWN_TAGS = b"\x02\x63\x01x\x64\x00"
"""Two tagged fields, 99 and 100, of one byte and of none."""
FLEXIBLE = [
    (key, version)
    for key, version in SERVED
    if key != ApiKey.FETCH and getattr(messages.request_type(key, version), "__flexible__", False)
]


@pytest.mark.parametrize(("key", "version"), FLEXIBLE)
def test_tagged_fields_that_are_not_known_are_passed_over(key: int, version: int) -> None:
    entity_type = messages.request_type(key, version)
    assert entity_type is not None
    frame = messages.encode_request(key, version, sample(entity_type), 7, None)
    body = frame[4 + 8 + 2 + 1 :]
    assert body.endswith(b"\x00")
    later = messages.decode_request(key, version, body[:-1] + UNKNOWN_TAGS)
    assert later == messages.decode_request(key, version, body)


def test_they_are_passed_over_inside_arrays_too() -> None:
    topic = b"\x02t" + UNKNOWN_TAGS
    body = b"\x03" + topic + topic + b"\x01\x00\x00" + UNKNOWN_TAGS
    request = messages.decode_request(ApiKey.METADATA, 9, body)
    assert [topic.name for topic in request.topics] == ["t", "t"]
    assert request.allow_auto_topic_creation is True


def test_a_known_tagged_field_stays_beside_one_that_is_not() -> None:
    body = bytes(4 * 4 + 1 + 8) + b"\x01\x01\x01" + b"\x02\x00\x02\x02c\x63\x01x"
    with pytest.raises(KafkaError):
        messages.decode_request(ApiKey.FETCH, 12, body[:-1])
    assert messages.decode_request(ApiKey.FETCH, 12, body).cluster_id == "c"


def test_tagged_fields_are_held_to_their_bytes_and_to_the_number_of_items() -> None:
    head = b"\x01\x00\x00\x00"
    assert refused(ApiKey.METADATA, 9, head + b"\x01\x63\x09x")
    assert refused(ApiKey.METADATA, 9, head + b"\xff\xff\xff\xff\x0f\x63\x00")
    too_many = b"\xc1\x9a\x0c" + b"\x63\x00" * (ITEMS_MAX + 1)
    assert refused(ApiKey.METADATA, 9, head + too_many)


@pytest.mark.parametrize("time_ms", [2**63 - 1, -(2**63), 2**62, 9_223_372_036_854_776])
def test_a_time_that_python_cannot_hold_is_the_longest_there_is(time_ms: int) -> None:
    head = b"\0\1g" + struct.pack(">ih", -1, 0)
    topics = struct.pack(">ih", 1, 1) + b"t" + struct.pack(">iiqh", 1, 0, 7, 0)
    body = head + struct.pack(">q", time_ms) + topics
    read = messages.decode_request(ApiKey.OFFSET_COMMIT, 2, body)
    assert abs(read.retention_time) > timedelta(days=100_000_000)
    assert (read.retention_time > timedelta()) == (time_ms > 0)
    assert read.topics[0].partitions[0].committed_offset == 7


def has_tagged_arrays(entity_type: Any, is_tagged: bool = False) -> bool:
    return any(
        (shape.is_array and (is_tagged or shape.tag is not None))
        or (
            shape.entity is not None
            and has_tagged_arrays(shape.entity, is_tagged or shape.tag is not None)
        )
        for shape in shapes(entity_type)
    )


@pytest.mark.parametrize("key", ADVERTISED)
def test_no_request_has_arrays_in_tagged_fields_which_are_not_walked(key: ApiKey) -> None:
    low, high = ADVERTISED[key]
    for version in range(low, high + 1):
        entity_type = messages.request_type(key, version)
        assert entity_type is None or not has_tagged_arrays(entity_type)
