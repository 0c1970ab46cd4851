"""Keys and values of the demo records. Pure.

Keys and values are UTF-8; values are JSON objects with `at_ms`. A process's record has its name,
id, CPU and memory only: never its arguments, environment or user.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class OutgoingRecord:
    """A record to send."""

    topic: str
    key: bytes | None
    value: bytes


def as_json(fields: Mapping[str, Any]) -> bytes:
    """A JSON object on one line."""
    return json.dumps(fields, separators=(",", ":"), ensure_ascii=False).encode()


def process_sample(
    topic: str, at_ms: int, name: str, pid: int, cpu_percent: float | None, rss_bytes: int
) -> OutgoingRecord:
    """One process. `cpu_percent`: of one core, since the previous sample; null in the first."""
    percent = None if cpu_percent is None else round(cpu_percent, 2)
    fields = {"at_ms": at_ms, "name": name, "pid": pid, "cpu_percent": percent}
    return OutgoingRecord(topic, name.encode(), as_json({**fields, "rss_bytes": rss_bytes}))


def cpu_sample(topic: str, at_ms: int, cpu: str, percent: Mapping[str, float]) -> OutgoingRecord:
    """The user, system and idle time of one CPU in the last interval, in percent."""
    return OutgoingRecord(topic, cpu.encode(), as_json({"at_ms": at_ms, "cpu": cpu, **percent}))


def log_line(topic: str, key_field: str, line: bytes) -> OutgoingRecord:
    """A line of a JSON log, unchanged; the key is the field `key_field`, if the line has it."""
    try:
        fields = json.loads(line)
        key = fields.get(key_field)
    except (ValueError, AttributeError):
        key = None
    return OutgoingRecord(topic, None if key is None else str(key).encode(), line)


def broker_event(topic: str, broker_id: str, event: Mapping[str, Any]) -> OutgoingRecord:
    """A broker's event; the key is the partition that it concerns, or else the broker."""
    topic_name = event.get("topic")
    key = f"{topic_name}-{event.get('partition')}" if topic_name else f"broker-{broker_id}"
    return OutgoingRecord(topic, key.encode(), as_json({**event, "broker_id": int(broker_id)}))


def load_record(topic: str, sequence: int, sent_at_ms: int) -> OutgoingRecord:
    """A record of `load.sequence`: a counter and the time."""
    return OutgoingRecord(topic, None, as_json({"sequence": sequence, "sent_at_ms": sent_at_ms}))
