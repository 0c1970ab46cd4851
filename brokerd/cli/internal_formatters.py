"""Kafka's formatters of `__consumer_offsets` and `__transaction_state` for console-consumer. Pure.

They write JSON objects with nothing between them, and skip records of other kinds.
"""

from typing import Any

from brokerd.cli.internal_record_json import (
    group_fields,
    offset_fields,
    to_json,
    transaction_fields,
    version_of,
)
from brokerd.cli.options import CliError
from brokerd.cli.record_text import ConsumedRecord
from brokerd.coordinator.group.records import GroupRecord, GroupsRecord, OffsetRecord, decode
from brokerd.coordinator.transaction.records import decode_key, decode_value


def offsets(record: ConsumedRecord) -> bytes:
    """OffsetsMessageFormatter."""
    decoded = _decoded(record)
    if not isinstance(decoded, OffsetRecord):
        return b""
    key = {"group": decoded.group_id, "topic": decoded.topic, "partition": decoded.partition}
    value = decoded.value and offset_fields(decoded.value, version_of(record.value))
    return _json(record, key, value)


def groups(record: ConsumedRecord) -> bytes:
    """GroupMetadataMessageFormatter."""
    decoded = _decoded(record)
    if not isinstance(decoded, GroupRecord):
        return b""
    version = version_of(record.value)
    value = decoded.value and group_fields(decoded.value, version, decode_members=False)
    return _json(record, {"group": decoded.group_id}, value)


def transactions(record: ConsumedRecord) -> bytes:
    """TransactionLogMessageFormatter."""
    try:
        name = decode_key(record.key) if record.key is not None else None
        value = None if record.value is None else transaction_fields(decode_value(record.value))
    except ValueError as error:
        raise _damaged(record, error) from None
    return b"" if name is None else _json(record, {"transactionalId": name}, value)


def _decoded(record: ConsumedRecord) -> GroupsRecord | None:
    try:
        return None if record.key is None else decode(record.key, record.value)
    except ValueError as error:
        raise _damaged(record, error) from None


def _damaged(record: ConsumedRecord, error: ValueError) -> CliError:
    place = f"offset {record.offset} of partition {record.partition}"
    return CliError(f"The record at {place} is not one of the formatter's topic: {error}")


def _json(record: ConsumedRecord, key: Any, value: Any) -> bytes:
    fields = {"key": {"version": version_of(record.key), "data": key}, "value": value}
    if value is not None:
        fields["value"] = {"version": version_of(record.value), "data": value}
    return to_json(fields).encode()
