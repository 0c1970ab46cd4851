"""Records of Kafka's own topics, whose keys and values begin with a version. Pure."""

import json
from typing import Any

from brokerd.cli.options import CliError
from brokerd.cli.record_text import Shown


def version_of(data: bytes | None) -> int:
    """The int16 that a key or a value begins with; 0 of nothing."""
    return int.from_bytes((data or b"")[:2], signed=True)


def versioned_json(record: Shown, key: Any, value: Any) -> bytes:
    """A record in the shape of Kafka's ApiMessageFormatter; a `value` of None is shown as null."""
    fields = {"key": {"version": version_of(record.key), "data": key}, "value": value}
    if value is not None:
        fields["value"] = {"version": version_of(record.value), "data": value}
    return json.dumps(fields, separators=(",", ":"), ensure_ascii=False).encode()


def damaged(record: Shown, topic: str, error: ValueError) -> CliError:
    """What is said of a record that cannot be one of its topic's."""
    place = f"offset {record.offset} of partition {record.partition}"
    return CliError(f"The record at {place} is none of {topic}: {error}")
