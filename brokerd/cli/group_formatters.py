"""How console-consumer shows `__consumer_offsets`: Kafka's formatters of offsets and of groups.

The newer ones write JSON, one object after the other with nothing between, as Kafka 3.9's do; the
older one of offsets writes lines. Each passes over the records of the other kind. Pure.
"""

import json
from typing import Any

from brokerd.cli.dump_decoders import group_fields, offset_fields
from brokerd.cli.options import CliError
from brokerd.cli.record_text import Shown
from brokerd.groups.records import (
    GroupRecord,
    GroupsRecord,
    OffsetRecord,
    decode,
)


class OffsetsFormatter:
    """org.apache.kafka.tools.consumer.OffsetsMessageFormatter."""

    def format(self, record: Shown) -> bytes:
        """The record as JSON; nothing for one of another kind."""
        decoded = _decoded(record)
        if not isinstance(decoded, OffsetRecord):
            return b""
        key = {"group": decoded.group_id, "topic": decoded.topic, "partition": decoded.partition}
        version, value = _version(record.value), decoded.value
        told = None if value is None else offset_fields(value, version)
        return _json(record, key, told)


class GroupsFormatter:
    """org.apache.kafka.tools.consumer.GroupMetadataMessageFormatter."""

    def format(self, record: Shown) -> bytes:
        """The record as JSON; nothing for one of another kind."""
        decoded = _decoded(record)
        if not isinstance(decoded, GroupRecord):
            return b""
        version, value = _version(record.value), decoded.value
        told = None if value is None else group_fields(value, version, opened=False)
        return _json(record, {"group": decoded.group_id}, told)


class OffsetLinesFormatter:
    """kafka.coordinator.group.GroupMetadataManager$OffsetsMessageFormatter."""

    def format(self, record: Shown) -> bytes:
        """The record as a line; nothing for one of another kind."""
        decoded = _decoded(record)
        if not isinstance(decoded, OffsetRecord):
            return b""
        name = f"[{decoded.group_id},{decoded.topic},{decoded.partition}]"
        value = decoded.value
        if value is None:
            return f"{name}::NULL\n".encode()
        epoch = "Optional.empty" if value.leader_epoch < 0 else f"Optional[{value.leader_epoch}]"
        expiry = "None" if value.expire_at_ms is None else f"Some({value.expire_at_ms})"
        return (
            f"{name}::OffsetAndMetadata(offset={value.offset}, leaderEpoch={epoch},"
            f" metadata={value.metadata}, commitTimestamp={value.committed_at_ms},"
            f" expireTimestamp={expiry})\n"
        ).encode()


def _decoded(record: Shown) -> GroupsRecord | None:
    """None also for what is not of `__consumer_offsets`. Raises CliError for what is damaged."""
    if record.key is None:
        return None
    try:
        return decode(record.key, record.value)
    except ValueError as error:
        place = f"offset {record.offset} of partition {record.partition}"
        raise CliError(f"The record at {place} is none of __consumer_offsets: {error}") from None


def _json(record: Shown, key: dict[str, Any], value: dict[str, Any] | None) -> bytes:
    told = {"key": {"version": _version(record.key), "data": key}, "value": value}
    if value is not None:
        told["value"] = {"version": _version(record.value), "data": value}
    return json.dumps(told, separators=(",", ":"), ensure_ascii=False).encode()


def _version(data: bytes | None) -> int:
    return int.from_bytes((data or b"")[:2], signed=True)
