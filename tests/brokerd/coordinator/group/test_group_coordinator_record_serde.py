"""Kafka's bytes for offsets and groups: round trips, literal bytes, older versions, bad bytes."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokerd.coordinator.group.group_coordinator_record_serde import (
    GroupRecord,
    GroupsRecord,
    GroupValue,
    MemberValue,
    OffsetRecord,
    OffsetValue,
    decode,
    encode_key,
    encode_value,
)

_names = st.text(max_size=20)
_int32 = st.integers(-1, (1 << 31) - 1)
_int64 = st.integers(-1, (1 << 63) - 1)
_members = st.builds(
    MemberValue,
    member_id=_names,
    instance_id=st.none() | _names,
    client_id=_names,
    client_host=_names,
    rebalance_timeout_ms=st.integers(0, (1 << 31) - 1),
    session_timeout_ms=_int32,
    subscription=st.binary(max_size=20),
    assignment=st.binary(max_size=20),
)
_groups = st.builds(
    GroupValue,
    protocol_type=_names,
    generation=_int32,
    protocol=st.none() | _names,
    leader=st.none() | _names,
    state_since_ms=_int64,
    members=st.lists(_members, max_size=3).map(tuple),
)
_offsets = st.builds(
    OffsetValue, offset=_int64, leader_epoch=_int32, metadata=_names, committed_at_ms=_int64
)
_records = st.builds(GroupRecord, _names, st.none() | _groups) | st.builds(
    OffsetRecord, _names, _names, _int32, st.none() | _offsets
)


@given(_records)
def test_a_record_reads_back_as_it_was_written(record: GroupsRecord) -> None:
    assert decode(encode_key(record), encode_value(record)) == record


@given(st.binary(max_size=60), st.none() | st.binary(max_size=60))
def test_garbage_is_refused_or_skipped(key: bytes, value: bytes | None) -> None:
    try:
        decode(key, value)
    except ValueError:
        pass


def test_an_offset_has_the_bytes_of_kafka() -> None:
    record = OffsetRecord("g", "topic", 7, OffsetValue(42, 3, "note", 1_700_000_000_000))
    assert encode_key(record) == b"\x00\x01\x00\x01g\x00\x05topic\x00\x00\x00\x07"
    expected = b"\x00\x03" + struct.pack(">qi", 42, 3) + b"\x00\x04note"
    assert encode_value(record) == expected + struct.pack(">q", 1_700_000_000_000)


def test_an_offset_with_a_retention_of_its_own_is_version_1() -> None:
    record = OffsetRecord("g", "t", 0, OffsetValue(42, -1, "", 1000, expire_at_ms=5000))
    value = encode_value(record)
    assert value == b"\x00\x01" + struct.pack(">qhqq", 42, 0, 1000, 5000)
    assert decode(encode_key(record), value) == record


def test_a_group_has_the_bytes_of_kafka() -> None:
    member = MemberValue("m", None, "c", "/127.0.0.1", 60_000, 10_000, b"sub", b"assign")
    record = GroupRecord("g", GroupValue("consumer", 5, "range", "m", 1000, (member,)))
    assert encode_key(record) == b"\x00\x02\x00\x01g"
    head = b"\x00\x03\x00\x08consumer\x00\x00\x00\x05\x00\x05range\x00\x01m"
    head += struct.pack(">qi", 1000, 1)
    rest = b"\x00\x01m\xff\xff\x00\x01c\x00\x0a/127.0.0.1" + struct.pack(">ii", 60_000, 10_000)
    assert encode_value(record) == head + rest + b"\x00\x00\x00\x03sub\x00\x00\x00\x06assign"


def test_a_removal_has_no_value() -> None:
    assert encode_value(OffsetRecord("g", "t", 0, None)) is None
    assert encode_value(GroupRecord("g", None)) is None


@pytest.mark.parametrize("version", [0, 2])
def test_older_offsets_are_read(version: int) -> None:
    value = struct.pack(">hqhq", version, 42, 0, 1000)
    key = b"\x00\x00\x00\x01g\x00\x01t\x00\x00\x00\x07"
    assert decode(key, value) == OffsetRecord("g", "t", 7, OffsetValue(42, -1, "", 1000))


@pytest.mark.parametrize("version", [0, 1, 2])
def test_older_groups_are_read(version: int) -> None:
    head = struct.pack(">h", version) + b"\x00\x08consumer\x00\x00\x00\x05\xff\xff\xff\xff"
    since = struct.pack(">q", 77) if version == 2 else b""
    timeout = struct.pack(">i", 60_000) if version >= 1 else b""
    member = b"\x00\x01m\x00\x01c\x00\x01h" + timeout + struct.pack(">i", 10_000)
    value = head + since + struct.pack(">i", 1) + member + struct.pack(">ii", 0, 0)
    record = decode(b"\x00\x02\x00\x01g", value)
    assert isinstance(record, GroupRecord)
    assert record.value is not None
    assert record.value.state_since_ms == (77 if version == 2 else -1)
    assert record.value.members[0].rebalance_timeout_ms == (60_000 if version >= 1 else 10_000)


def test_keys_of_newer_kinds_are_skipped() -> None:
    assert decode(b"\x00\x03\x00\x01g", b"anything") is None


@pytest.mark.parametrize("version", [-1, 4, 99])
def test_values_of_unknown_versions_are_refused(version: int) -> None:
    with pytest.raises(ValueError, match="version"):
        decode(b"\x00\x02\x00\x01g", struct.pack(">h", version))
    with pytest.raises(ValueError, match="version"):
        decode(b"\x00\x01\x00\x01g\x00\x01t\x00\x00\x00\x00", struct.pack(">h", version))


def test_a_record_without_a_key_is_refused() -> None:
    with pytest.raises(ValueError, match="no key"):
        decode(None, b"")
