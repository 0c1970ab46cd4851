"""Records as text for the database, and their summary for a plan. Pure.

A line per record: [key, value, [[name, value], …], partition, timestamp_ms], data in base64. A plan
has only sizes, counts and a SHA-256: users for whom records are masked may see plans and audit log.
"""

import json
from base64 import b64decode, b64encode
from collections.abc import Iterable, Sequence
from typing import Any

from monitoring.gateway.producing import NewRecord

BYTES_MAX = 1 << 20  # of all records of a plan
RECORDS_MAX = 5000  # of a file, or copies of one record
_ITEMS_MAX = 1000


def dumps(records: Iterable[NewRecord]) -> str:
    return "\n".join(json.dumps(_fields(record), separators=(",", ":")) for record in records)


def loads(text: str) -> list[NewRecord]:
    return [_record(json.loads(line)) for line in text.split("\n")]


def summary(records: Sequence[NewRecord], times: int) -> dict[str, Any]:
    """The parameters of a plan that describe the records."""
    sizes = [record.size_bytes for record in records]
    return {
        "count": len(records) * times,
        "times": times,
        "size_bytes": sum(sizes) * times,
        "largest_bytes": max(sizes),
        "tombstones": sum(record.value is None for record in records) * times,
        "without_key": sum(record.key is None for record in records) * times,
        "headers": sum(len(record.headers) for record in records) * times,
        "partitions": sorted({record.partition for record in records} - {None}, key=int),
        "by_key": sum(record.partition is None for record in records) * times,
        "with_time": sum(record.timestamp_ms is not None for record in records) * times,
    }


def item_ranges(count: int) -> list[range]:
    """The numbers of the records of each item of a plan: at most 1,000 items."""
    size = max(1, -(-count // _ITEMS_MAX))
    return [range(first, min(first + size, count)) for first in range(0, count, size)]


def item_key(numbers: range) -> str:
    """The name of an item; records are counted from 1."""
    return str(numbers.start + 1) if len(numbers) == 1 else f"{numbers.start + 1}–{numbers.stop}"


def _fields(record: NewRecord) -> list[Any]:
    headers = [[name, _text(value)] for name, value in record.headers]
    return [
        _text(record.key), _text(record.value), headers, record.partition, record.timestamp_ms,
    ]  # fmt: skip


def _record(fields: list[Any]) -> NewRecord:
    key, value, headers, partition, at_ms = fields
    pairs = tuple((name, _bytes(data)) for name, data in headers)
    return NewRecord(_bytes(key), _bytes(value), pairs, partition, at_ms)


def _text(data: bytes | None) -> str | None:
    return None if data is None else b64encode(data).decode()


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else b64decode(text)
