"""Fetch requests by hand against kio's writer."""

from contextlib import suppress
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokerd.errors import ErrorCode, KafkaError
from brokerd.protocol import messages
from brokerd.protocol.array_length_check import ITEMS_MAX
from brokerd.protocol.fetch_request import NO_TOPIC_ID, FetchRequest, decode_fetch
from brokerd.protocol.framing import parse_header

VERSIONS = range(4, 18)
IDS = {name: UUID(int=number) for number, name in enumerate("abc", 7)}


def topic(version: int, name: str, partitions: list[Any]) -> dict[str, Any]:
    named = {"topic_id": IDS[name]} if version >= 13 else {"topic": name}
    return {**named, "partitions": partitions}


def frame_of(version: int, **changes: Any) -> memoryview:
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
        "max_wait": 500,
        "min_bytes": 1,
        "max_bytes": 50 << 20,
        "isolation_level": 1,
        "session_id": 77,
        "session_epoch": 2,
        "topics": [topic(version, "a", partitions), topic(version, "b", partitions[:1])],
        "forgotten_topics_data": [topic(version, "c", [1, 2]), topic(version, "a", [3])],
        "rack_id": "r1",
        **({"replica_id": -1} if version < 15 else {}),
        **changes,
    }
    return memoryview(messages.encode_request(1, version, fields, 5, "client"))[4:]


def decode(frame: memoryview, version: int) -> FetchRequest:
    return decode_fetch(frame, parse_header(frame).body_position, version)


def key(version: int, name: str, index: int) -> tuple[str, bytes, int]:
    return ("", IDS[name].bytes, index) if version >= 13 else (name, NO_TOPIC_ID, index)


@pytest.mark.parametrize("version", VERSIONS)
def test_requests_decode_as_kio_wrote_them(version: int) -> None:
    request = decode(frame_of(version), version)
    assert (request.replica_id, request.max_wait_ms, request.min_bytes) == (-1, 500, 1)
    assert (request.max_bytes, request.isolation_level) == (50 << 20, 1)
    if version >= 7:
        assert (request.session_id, request.session_epoch) == (77, 2)
        assert request.forgotten == [key(version, *each) for each in (("c", 1), ("c", 2), ("a", 3))]
    else:
        assert (request.session_id, request.session_epoch, request.forgotten) == (0, -1, [])
    assert [(each.key, each.offset) for each in request.partitions] == [
        (key(version, "a", 0), 10),
        (key(version, "a", 5), 15),
        (key(version, "b", 0), 10),
    ]
    first = request.partitions[0]
    assert first.max_bytes == 1 << 20
    assert first.leader_epoch == (4 if version >= 9 else -1)
    assert first.last_fetched_epoch == (3 if version >= 12 else -1)


int32 = st.integers(-(2**31), 2**31 - 1)
some_partitions = st.lists(
    st.fixed_dictionaries({
        "partition": int32, "current_leader_epoch": int32, "last_fetched_epoch": int32,
        "fetch_offset": st.integers(-2, 2**63 - 1), "partition_max_bytes": int32,
        "log_start_offset": st.integers(-1, 2**63 - 1),
    }), max_size=5,
)  # fmt: skip
names = st.sampled_from(sorted(IDS))


@given(
    st.sampled_from(VERSIONS),
    st.lists(st.tuples(names, some_partitions), max_size=4),
    st.lists(st.tuples(names, st.lists(int32, max_size=4)), max_size=4),
)
def test_whatever_is_asked_for_is_what_kio_wrote(
    version: int, topics: list[tuple[str, list[Any]]], forgotten: list[tuple[str, list[int]]]
) -> None:
    frame = frame_of(
        version,
        topics=[topic(version, *each) for each in topics],
        forgotten_topics_data=[topic(version, *each) for each in forgotten],
    )
    request = decode(frame, version)
    if request.partitions:
        at = request.offset_at
        last_offset = int.from_bytes(frame[at : at + 8], "big", signed=True)
        assert last_offset == request.partitions[-1].offset
    asked = [(name, row) for name, rows in topics for row in rows]
    assert [(each.key, each.offset, each.max_bytes) for each in request.partitions] == [
        (key(version, name, row["partition"]), row["fetch_offset"], row["partition_max_bytes"])
        for name, row in asked
    ]
    epochs = [each.leader_epoch for each in request.partitions]
    assert epochs == [row["current_leader_epoch"] if version >= 9 else -1 for _, row in asked]
    if version >= 7:
        listed = [(name, index) for name, indexes in forgotten for index in indexes]
        assert request.forgotten == [key(version, *each) for each in listed]


@pytest.mark.parametrize("version", [15, 17])
def test_a_replica_says_who_it_is_in_a_tagged_field(version: int) -> None:
    state = {"replica_id": 3, "replica_epoch": 99}
    assert decode(frame_of(version, replica_state=state, cluster_id="c"), version).replica_id == 3


@pytest.mark.parametrize("version", [12, 13, 17])
def test_unknown_tagged_fields_are_passed_over_wherever_they_are(version: int) -> None:
    frame = bytes(frame_of(version, topics=[], forgotten_topics_data=[]))
    tags = b"\x01\x63\x02xy"
    name = IDS["a"].bytes if version >= 13 else b"\x02a"
    partition = frame_of(version)
    wanted = bytes(4) + b"\x00\x00\x00\x04" + (10).to_bytes(8, "big") + bytes(4) + bytes(8)
    wanted += (1 << 20).to_bytes(4, "big") + tags
    topics = b"\x02" + name + b"\x03" + wanted + wanted + tags
    forgotten = b"\x02" + name + b"\x02" + (6).to_bytes(4, "big") + tags
    assert frame.endswith(b"\x01\x01\x03r1\x00")
    body = memoryview(frame[: -len(b"\x01\x01\x03r1\x00")] + topics + forgotten + b"\x03r1" + tags)
    request = decode(body, version)
    assert [(each.key, each.offset) for each in request.partitions] == [
        (key(version, "a", 0), 10)
    ] * 2
    assert request.forgotten == [key(version, "a", 6)]
    assert decode(partition, version).partitions[0].offset == 10


@pytest.mark.parametrize("version", VERSIONS)
def test_a_request_that_is_cut_off_anywhere_is_refused(version: int) -> None:
    frame = frame_of(version)
    start = parse_header(frame).body_position
    needed = len(frame) if version >= 12 else len(frame) - (4 if version >= 11 else 0)
    for end in range(start, needed):
        with pytest.raises(KafkaError) as caught:
            decode_fetch(frame[:end], start, version)
        assert caught.value.code is ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize("version", [4, 11])
def test_more_partitions_than_the_limit_are_refused(version: int) -> None:
    size = 16 if version == 4 else 28
    head = bytes(17 if version == 4 else 25) + (1).to_bytes(4, "big") + b"\x00\x01t"
    for count, fits in ((ITEMS_MAX - 1, True), (ITEMS_MAX, False)):
        body = memoryview(head + count.to_bytes(4, "big") + bytes(size * count + 6))
        if fits:
            assert len(decode_fetch(body, 0, version).partitions) == count
        else:
            with pytest.raises(KafkaError, match="more than"):
                decode_fetch(body, 0, version)


@pytest.mark.parametrize("version", [4, 11])
def test_a_negative_count_does_not_make_room_for_more_partitions(version: int) -> None:
    size = 16 if version == 4 else 28
    head = bytes(17 if version == 4 else 25) + (2).to_bytes(4, "big")
    first = b"\x00\x01t" + (-(2**31)).to_bytes(4, "big", signed=True)
    second = b"\x00\x01t" + ITEMS_MAX.to_bytes(4, "big") + bytes(size * ITEMS_MAX + 6)
    with pytest.raises(KafkaError, match=f"more than {ITEMS_MAX} items"):
        decode_fetch(memoryview(head + first + second), 0, version)
    absent = b"\x00\x01t\xff\xff\xff\xff"
    assert decode_fetch(memoryview(head + absent * 2 + bytes(6)), 0, version).partitions == []


def test_tagged_fields_count_as_items() -> None:
    run = b"\xff\xff\x03" + b"\x63\x00" * 0xFFFF  # 65,535 of them
    topic = b"\x02t\x01" + run
    three, four = (
        memoryview(bytes(25) + bytes((count + 1,)) + topic * count + b"\x01\x01\x00")
        for count in (3, 4)
    )
    assert decode_fetch(three, 0, 12).partitions == []
    with pytest.raises(KafkaError, match="more than"):
        decode_fetch(four, 0, 12)


@given(st.sampled_from(VERSIONS), st.binary(max_size=80))
def test_arbitrary_bytes_are_refused_or_decoded_but_never_crash(version: int, data: bytes) -> None:
    with suppress(KafkaError):
        decode_fetch(memoryview(data), 0, version)
