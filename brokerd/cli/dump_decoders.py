"""Keys and values in the lines of dump-log: text, numbers, or decoded records of
`__consumer_offsets` and `__transaction_state`."""

import struct
from collections.abc import Callable
from typing import Any

from brokerd.cli.internal_record_json import group_fields, offset_fields, to_json, version_of
from brokerd.cli.options import CliError
from brokerd.coordinator.group.group_coordinator_record_serde import (
    GroupRecord,
    OffsetValue,
    decode,
)
from brokerd.coordinator.transaction.transaction_log import (
    TransactionValue,
    decode_key,
    decode_value,
)
from brokerd.protocol.records import Record

Decoder = Callable[[Record], tuple[str | None, str | None]]
"""Key and value as text; None shows nothing."""
Field = Callable[[bytes], str]

STRING = "StringDecoder"
DELETED = "<DELETE>"


def _number(layout: struct.Struct) -> Field:
    def field(data: bytes) -> str:
        try:
            return str(layout.unpack_from(data)[0])
        except struct.error:
            return f"({len(data)} bytes are no number of {layout.size})"

    return field


_FIELDS: dict[str, Field] = {
    STRING: lambda data: data.decode(errors="replace"),
    "IntegerDecoder": _number(struct.Struct(">i")),
    "LongDecoder": _number(struct.Struct(">q")),
    "DefaultDecoder": bytes.hex,  # Kafka's prints the address of the Java array
}


def plain(key_class: str, value_class: str) -> Decoder:
    """Keys and values by the names of Kafka's decoders; CliError for one that is not built in."""
    key_field, value_field = _field(key_class), _field(value_class)

    def decoder(record: Record) -> tuple[str | None, str | None]:
        key = None if record.key is None else key_field(record.key)
        return key, None if record.value is None else value_field(record.value)

    return decoder


def _field(class_name: str) -> Field:
    """Found by the class name without its package, which differed in older versions of Kafka."""
    name = class_name.rpartition(".")[2]
    if name not in _FIELDS:
        raise CliError(
            f"{class_name} is not a decoder that is built in; these are: {', '.join(_FIELDS)}"
        )
    return _FIELDS[name]


def offsets(record: Record) -> tuple[str | None, str | None]:
    try:
        decoded = decode(record.key, record.value)
    except ValueError as error:
        return f"Error at offset {record.offset}, skipping. {error}", None
    if decoded is None:
        version = version_of(record.key)
        return f"Unknown record type {version} at offset {record.offset}, skipping.", None
    key: dict[str, Any] = {"group": decoded.group_id}
    if not isinstance(decoded, GroupRecord):
        key |= {"topic": decoded.topic, "partition": decoded.partition}
    shown = _versioned("type", record.key, key)
    if decoded.value is None:
        return shown, DELETED
    version = version_of(record.value)
    if isinstance(decoded.value, OffsetValue):
        return shown, _versioned("version", record.value, offset_fields(decoded.value, version))
    fields = group_fields(decoded.value, version, decode_members=True)
    return shown, _versioned("version", record.value, fields)


def transactions(record: Record) -> tuple[str | None, str | None]:
    """A record of `__transaction_state`, as Kafka writes its TransactionMetadata."""
    try:
        name = decode_key(record.key or b"")
        value = None if name is None or record.value is None else decode_value(record.value)
    except ValueError as error:
        return f"Error at offset {record.offset}, skipping. {error}", None
    if name is None:
        return f"unknown::version={version_of(record.key)}", None
    key = f"transaction_metadata::transactionalId={name}"
    return key, DELETED if value is None else _transaction(value)


def _transaction(value: TransactionValue) -> str:
    """The fields of a transaction; in the state Empty without partitions, as in Kafka's tool."""
    by_topic = () if value.state == "Empty" else value.partitions or ()
    listed = ",".join(f"{topic}-{index}" for topic, indexes in by_topic for index in indexes)
    return (
        f"producerId:{value.producer_id},producerEpoch:{value.producer_epoch},state={value.state},"
        f"partitions=[{listed}],txnLastUpdateTimestamp={value.updated_at_ms},"
        f"txnTimeoutMs={value.timeout_ms}"
    )


def _versioned(label: str, data: bytes | None, fields: dict[str, Any]) -> str:
    return to_json({label: str(version_of(data)), "data": fields})
