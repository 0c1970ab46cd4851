"""How dump-log shows keys and values: as text or numbers, or as what a group
or a transaction leaves behind."""

import json
import struct
from base64 import b64encode
from collections.abc import Callable
from typing import Any

from brokerd.cli.consumer_protocol import assignment_json, subscription_json
from brokerd.cli.internal_records import version_of
from brokerd.cli.java_hash_order import hash_set_order
from brokerd.cli.options import CliError
from brokerd.coordinator.group.records import (
    GroupRecord,
    GroupsRecord,
    GroupValue,
    MemberValue,
    OffsetValue,
    decode,
)
from brokerd.coordinator.transaction.records import TransactionValue, decode_key, decode_value
from brokerd.errors import KafkaError
from brokerd.protocol.records import Record

Decoder = Callable[[Record], tuple[str | None, str | None]]
"""Key and value as text; None shows nothing."""
Field = Callable[[bytes], str]

_API = "org.apache.kafka.tools.api"
_OLDER = "kafka.serializer"
STRING = f"{_API}.StringDecoder"
_CONSUMER = "consumer"
DELETED = "<DELETE>"


def _number(layout: struct.Struct) -> Field:
    def field(data: bytes) -> str:
        try:
            return str(layout.unpack_from(data)[0])
        except struct.error:
            return f"({len(data)} bytes are no number of {layout.size})"

    return field


_FIELDS: dict[str, Field] = {
    "StringDecoder": lambda data: data.decode(errors="replace"),
    "IntegerDecoder": _number(struct.Struct(">i")),
    "LongDecoder": _number(struct.Struct(">q")),
    "DefaultDecoder": bytes.hex,  # of Kafka's, Java's name of an array's place in memory is seen
}


def plain(key_class: str, value_class: str) -> Decoder:
    """Keys and values by the names of Kafka's decoders; CliError for one that is not built in."""
    key_field, value_field = _field(key_class), _field(value_class)

    def decoder(record: Record) -> tuple[str | None, str | None]:
        key = None if record.key is None else key_field(record.key)
        return key, None if record.value is None else value_field(record.value)

    return decoder


def deprecated(*class_names: str | None) -> list[str]:
    """A line for each decoder that is named by its older name."""
    lines = []
    for each in class_names:
        package, _, name = (each or "").rpartition(".")
        if package == _OLDER:
            lines.append(f"{each} is deprecated. Please use {_API}.{name} instead")
    return lines


def _field(class_name: str) -> Field:
    package, _, name = class_name.rpartition(".")
    if name not in _FIELDS or package not in ("", _OLDER, _API):
        known = ", ".join(f"{_API}.{each}" for each in _FIELDS)
        raise CliError(f"{class_name} is not a decoder that is built in; these are: {known}")
    return _FIELDS[name]


def offsets(record: Record) -> tuple[str | None, str | None]:
    """A record of `__consumer_offsets` as JSON."""
    try:
        decoded = decode(record.key, record.value)
    except (ValueError, UnicodeDecodeError) as error:
        return f"Error at offset {record.offset}, skipping. {error}", None
    if decoded is None:
        version = version_of(record.key)
        return f"Unknown record type {version} at offset {record.offset}, skipping.", None
    return _json("type", record.key, _key(decoded)), _value(record, decoded)


def transactions(record: Record) -> tuple[str | None, str | None]:
    """A record of `__transaction_state`, as Kafka writes its TransactionMetadata."""
    try:
        name = decode_key(record.key or b"")
        value = None if name is None or record.value is None else decode_value(record.value)
    except ValueError as error:
        return f"Error at offset {record.offset}, skipping. {error}", None
    if name is None:
        return f"unknown::version={version_of(record.key)}", None
    return f"transaction_metadata::transactionalId={name}", _transaction(value)


def _transaction(value: TransactionValue | None) -> str:
    if value is None:
        return DELETED
    listed = ",".join(partitions_of(value))
    return (
        f"producerId:{value.producer_id},producerEpoch:{value.producer_epoch},state={value.state},"
        f"partitions=[{listed}],txnLastUpdateTimestamp={value.updated_at_ms},"
        f"txnTimeoutMs={value.timeout_ms}"
    )


def partitions_of(value: TransactionValue) -> list[str]:
    """The partitions of a transaction in the order of Kafka's tools. One that has ended or not
    begun has them no longer or not yet."""
    if value.state == "Empty":
        return []
    return [f"{topic}-{index}" for topic, index in hash_set_order(value.partitions or ())]


def _key(record: GroupsRecord) -> dict[str, Any]:
    if isinstance(record, GroupRecord):
        return {"group": record.group_id}
    return {"group": record.group_id, "topic": record.topic, "partition": record.partition}


def _value(record: Record, decoded: GroupsRecord) -> str:
    if decoded.value is None:
        return DELETED
    version = version_of(record.value)
    if isinstance(decoded.value, GroupValue):
        return _json("version", record.value, group_fields(decoded.value, version))
    return _json("version", record.value, offset_fields(decoded.value, version))


def offset_fields(value: OffsetValue, version: int) -> dict[str, Any]:
    """What an offset value of that version says, by Kafka's names and in its order."""
    fields: dict[str, Any] = {"offset": value.offset}
    if version >= 3:
        fields["leaderEpoch"] = value.leader_epoch
    fields |= {"metadata": value.metadata, "commitTimestamp": value.committed_at_ms}
    if version == 1:
        fields["expireTimestamp"] = -1 if value.expire_at_ms is None else value.expire_at_ms
    return fields


def group_fields(value: GroupValue, version: int, *, opened: bool = True) -> dict[str, Any]:
    """What a group value of that version says; `opened` shows what consumers say to each other
    instead of its base64."""
    fields: dict[str, Any] = {
        "protocolType": value.protocol_type,
        "generation": value.generation,
        "protocol": value.protocol,
        "leader": value.leader,
    }
    if version >= 2:
        fields["currentStateTimestamp"] = value.state_since_ms
    is_consumer = opened and value.protocol_type == _CONSUMER
    fields["members"] = [_member(member, version, is_consumer) for member in value.members]
    return fields


def _member(member: MemberValue, version: int, is_consumer: bool) -> dict[str, Any]:
    fields: dict[str, Any] = {"memberId": member.member_id}
    if version >= 3:
        fields["groupInstanceId"] = member.instance_id
    fields |= {"clientId": member.client_id, "clientHost": member.client_host}
    if version >= 1:
        fields["rebalanceTimeout"] = member.rebalance_timeout_ms
    fields["sessionTimeout"] = member.session_timeout_ms
    fields["subscription"] = _embedded(member.subscription, subscription_json, is_consumer)
    fields["assignment"] = _embedded(member.assignment, assignment_json, is_consumer)
    return fields


def _embedded(data: bytes, read: Callable[[bytes], dict[str, Any]], is_consumer: bool) -> Any:
    """What a consumer said; anything else, and what does not parse, as base64."""
    if is_consumer:
        try:
            return read(data)
        except (KafkaError, IndexError):
            pass
    return b64encode(data).decode()


def _json(label: str, data: bytes | None, fields: dict[str, Any]) -> str:
    shown = {label: str(version_of(data)), "data": fields}
    return json.dumps(shown, separators=(",", ":"), ensure_ascii=False)
