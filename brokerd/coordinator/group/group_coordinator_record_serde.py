"""The records of `__consumer_offsets`, as values and in Kafka's exact format (Kafka's
GroupCoordinatorRecordSerde).

Every key and value starts with an int16 version; strings carry an int16 length (-1 = null), bytes
an int32 length (-1 = null), arrays an int32 count. A null value is a tombstone.

    key   0, 1  offset    group string, topic string, partition int32
    key   2     group     group string
    offset value 0        offset int64, metadata string, commit time int64
                 1        … and expiry time int64 (written where the client named a retention)
                 2        as 0
                 3        offset int64, leader epoch int32, metadata string, commit time int64
    group value  0        protocol type string, generation int32, protocol string?, leader string?,
                          members: id string, client id string, host string, session timeout int32,
                          subscription bytes, assignment bytes
                 1        member: rebalance timeout int32 before the session timeout
                 2        time of the current state int64 before the members
                 3        member: instance id string? after the id

Written: offset values 3 (or 1), group values 3, as Apache Kafka 3.9 does; read: all of them. Keys
of other versions (Kafka 4's new groups) are skipped, as Kafka skips what it does not know.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from struct import Struct

from brokerd.protocol.internal_value_reader import ValueReader

_INT16 = Struct(">h")
_INT32 = Struct(">i")
_INT64 = Struct(">q")
_OFFSET_VALUE_HEAD = Struct(">hqi")


@dataclass(frozen=True, slots=True)
class OffsetValue:
    """A committed offset; `leader_epoch` -1 = unknown; `expire_at_ms` None = by retention."""

    offset: int
    leader_epoch: int
    metadata: str
    committed_at_ms: int
    expire_at_ms: int | None = None


@dataclass(frozen=True, slots=True)
class MemberValue:
    """A member as the group record keeps it; subscription and assignment are opaque bytes."""

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    subscription: bytes
    assignment: bytes


@dataclass(frozen=True, slots=True)
class GroupValue:
    """A group at one generation; `state_since_ms` -1 = unknown (older records)."""

    protocol_type: str
    generation: int
    protocol: str | None
    leader: str | None
    state_since_ms: int
    members: tuple[MemberValue, ...]


@dataclass(frozen=True, slots=True)
class OffsetRecord:
    """A commit, or with `value` None its removal."""

    group_id: str
    topic: str
    partition: int
    value: OffsetValue | None


@dataclass(frozen=True, slots=True)
class GroupRecord:
    """A group's new generation or members, or with `value` None its removal."""

    group_id: str
    value: GroupValue | None


GroupsRecord = OffsetRecord | GroupRecord


def _string(text: str | None) -> bytes:
    if text is None:
        return b"\xff\xff"
    data = text.encode()
    return _INT16.pack(len(data)) + data


def _bytes(data: bytes) -> bytes:
    return _INT32.pack(len(data)) + data


def encode_key(record: GroupsRecord) -> bytes:
    """Kafka's key for the record."""
    if isinstance(record, GroupRecord):
        return b"\x00\x02" + _string(record.group_id)
    names = _string(record.group_id) + _string(record.topic)
    return b"\x00\x01" + names + _INT32.pack(record.partition)


def encode_value(record: GroupsRecord) -> bytes | None:
    """Kafka's value for the record; None is a tombstone."""
    value = record.value
    if value is None:
        return None
    return _encode_group(value) if isinstance(value, GroupValue) else _encode_offset(value)


def _encode_offset(value: OffsetValue) -> bytes:
    committed_at = _INT64.pack(value.committed_at_ms)
    if value.expire_at_ms is not None:
        head = _INT16.pack(1) + _INT64.pack(value.offset)
        return head + _string(value.metadata) + committed_at + _INT64.pack(value.expire_at_ms)
    head = _OFFSET_VALUE_HEAD.pack(3, value.offset, value.leader_epoch)
    return head + _string(value.metadata) + committed_at


def _encode_group(value: GroupValue) -> bytes:
    parts = [
        _INT16.pack(3),
        _string(value.protocol_type),
        _INT32.pack(value.generation),
        _string(value.protocol),
        _string(value.leader),
        _INT64.pack(value.state_since_ms),
        _INT32.pack(len(value.members)),
    ]
    for member in value.members:
        parts += (
            _string(member.member_id),
            _string(member.instance_id),
            _string(member.client_id),
            _string(member.client_host),
            _INT32.pack(member.rebalance_timeout_ms),
            _INT32.pack(member.session_timeout_ms),
            _bytes(member.subscription),
            _bytes(member.assignment),
        )
    return b"".join(parts)


def decode(key: bytes | None, value: bytes | None) -> GroupsRecord | None:
    """The record of a key and a value, None for a kind that this broker does not know. Raises
    ValueError if the bytes do not have the format of their version."""
    if key is None:
        raise ValueError("a record of __consumer_offsets has no key")
    reader = ValueReader(key)
    version = reader.int16()
    if version in (0, 1):
        group_id, topic, partition = reader.string(), reader.string(), reader.int32()
        decoded = None if value is None else _decode_offset(ValueReader(value))
        return OffsetRecord(group_id, topic, partition, decoded)
    if version == 2:
        group_id = reader.string()
        return GroupRecord(group_id, None if value is None else _decode_group(ValueReader(value)))
    return None


def _decode_offset(reader: ValueReader) -> OffsetValue:
    version = reader.int16()
    if not 0 <= version <= 3:
        raise ValueError(f"an offset value of version {version} is not known")
    offset = reader.int64()
    leader_epoch = reader.int32() if version == 3 else -1
    metadata = reader.string()
    committed_at_ms = reader.int64()
    expire_at_ms = reader.int64() if version == 1 else None
    if expire_at_ms == -1:
        expire_at_ms = None
    return OffsetValue(offset, leader_epoch, metadata, committed_at_ms, expire_at_ms)


def _decode_group(reader: ValueReader) -> GroupValue:
    version = reader.int16()
    if not 0 <= version <= 3:
        raise ValueError(f"a group value of version {version} is not known")
    protocol_type, generation = reader.string(), reader.int32()
    protocol, leader = reader.nullable_string(), reader.nullable_string()
    state_since_ms = reader.int64() if version >= 2 else -1
    members = tuple(_decode_members(reader, version))
    return GroupValue(protocol_type, generation, protocol, leader, state_since_ms, members)


def _decode_members(reader: ValueReader, version: int) -> Iterator[MemberValue]:
    for _ in range(reader.int32()):
        member_id = reader.string()
        instance_id = reader.nullable_string() if version >= 3 else None
        client_id, client_host = reader.string(), reader.string()
        rebalance_timeout_ms = reader.int32() if version >= 1 else -1
        session_timeout_ms = reader.int32()
        yield MemberValue(
            member_id,
            instance_id,
            client_id,
            client_host,
            # A record without one comes from a client that had but the session timeout.
            session_timeout_ms if rebalance_timeout_ms < 0 else rebalance_timeout_ms,
            session_timeout_ms,
            reader.bytes(),
            reader.bytes(),
        )
