"""Fetch v4 of one partition, read committed.

request v4  = replica i32 (-1), wait ms i32, min bytes i32, max bytes i32, isolation i8,
              topics[name s, partitions[index i32, offset i64, max bytes i32]]
response v4 = throttle i32, topics[name s, partitions[index i32, error i16, high watermark i64,
              last stable offset i64, aborted[producer id i64, first offset i64], records]]
"""

from contextlib import suppress
from struct import Struct
from typing import NamedTuple

from brokerd.errors import KafkaError
from brokerd.protocol.records import BatchHeader, iter_batches
from monitoring.gateway.wire.connection import frame
from monitoring.gateway.wire.cursor import AFTER_THROTTLE_TIME, Cursor

API_KEY, VERSION = 1, 4
_READ_COMMITTED = 1
_HEAD = Struct(">iiiibi")
_I16, _I32 = Struct(">h"), Struct(">i")
_PARTITION = Struct(">iqi")


class FetchedRecords(NamedTuple):
    """One partition's answer; `aborted` are (producer id, first offset)."""

    error: int
    last_stable_offset: int
    aborted: tuple[tuple[int, int], ...]
    records: memoryview


def request(
    topic: str, partition: int, offset: int, max_bytes: int, wait_ms: int, correlation_id: int
) -> bytes:
    """The request frame for the records of one partition from `offset` on.

    Without records, the leader answers after `wait_ms`.
    """
    name = topic.encode()
    body = b"".join(
        (
            _HEAD.pack(-1, wait_ms, 1, max_bytes, _READ_COMMITTED, 1),
            _I16.pack(len(name)),
            name,
            _I32.pack(1),
            _PARTITION.pack(partition, offset, max_bytes),
        )
    )
    return frame(API_KEY, VERSION, correlation_id, body)


def decode(answer: bytes) -> FetchedRecords:
    """Raises ValueError, KafkaError, OverLimit or struct.error if the response is malformed."""
    cursor = Cursor(answer, AFTER_THROTTLE_TIME)
    if cursor.array_length(item_bytes_min=6) != 1:
        raise ValueError("one topic was requested")
    cursor.text()  # topic
    if cursor.array_length(item_bytes_min=30) != 1:
        raise ValueError("one partition was requested")
    cursor.i32()  # partition
    error = cursor.i16()
    cursor.i64()  # high watermark
    last_stable_offset = cursor.i64()
    aborted = tuple(
        (cursor.i64(), cursor.i64()) for _ in range(cursor.array_length(item_bytes_min=16))
    )
    size = max(cursor.i32(), 0)
    start = cursor.skip(size)
    return FetchedRecords(
        error, last_stable_offset, aborted, memoryview(answer)[start : start + size]
    )


def batch_headers(records: memoryview) -> list[BatchHeader]:
    """The headers of the complete batches in a Fetch response, up to one of an older format."""
    found = []
    with suppress(KafkaError):  # an older format
        for header, _batch in iter_batches(records):
            found.append(header)
    return found


def batch_header_at(records: memoryview, offset: int) -> BatchHeader | None:
    """The header of the batch in a Fetch response that holds `offset`.

    None if there is none, or if the records have an older format.
    """
    with suppress(KafkaError):  # an older format
        for header, _batch in iter_batches(records):
            if header.last_offset >= offset:
                return header if header.base_offset <= offset else None
    return None
