"""Fetch of one partition, read committed: v10, or v4 for brokers before Kafka 2.1.

Apache Kafka refuses topics with compression.type=zstd below v10. No fetch session is used.

request v10  = replica i32 (-1), wait ms i32, min bytes i32, max bytes i32, isolation i8,
               session id i32 (0), session epoch i32 (-1), topics[name s, partitions[index i32,
               leader epoch i32 (-1), offset i64, log start i64 (-1), max bytes i32]],
               forgotten topics[]
response v10 = throttle i32, error i16, session id i32, topics[name s, partitions[index i32,
               error i16, high watermark i64, last stable offset i64, log start i64,
               aborted[producer id i64, first offset i64], records]]
v4 has neither sessions nor leader epochs nor log starts.
"""

from contextlib import suppress
from struct import Struct
from typing import NamedTuple

from brokerd.errors import KafkaError
from brokerd.protocol.records import BatchHeader, iter_batches
from monitoring.gateway.wire.connection import frame
from monitoring.gateway.wire.cursor import AFTER_CORRELATION_ID, Cursor

API_KEY, WITH_ZSTD, OLDEST = 1, 10, 4
VERSIONS = (WITH_ZSTD, OLDEST)
_READ_COMMITTED = 1
_HEAD, _NO_SESSION = Struct(">iiiib"), Struct(">ii")
_I16, _I32 = Struct(">h"), Struct(">i")
_PARTITION, _PARTITION_V4 = Struct(">iiqqi"), Struct(">iqi")


class FetchedRecords(NamedTuple):
    """One partition's answer; `aborted` are (producer id, first offset)."""

    error: int
    last_stable_offset: int
    aborted: tuple[tuple[int, int], ...]
    records: memoryview


class Throttled(NamedTuple):
    """The broker delays the client because of a quota, and sends no records."""

    seconds: float


def request(
    topic: str,
    partition: int,
    offset: int,
    max_bytes: int,
    wait_ms: int,
    version: int,
    correlation_id: int,
) -> bytes:
    """The request frame for the records of one partition from `offset` on.

    Without records, the leader answers after `wait_ms`.
    """
    name = topic.encode()
    head = _HEAD.pack(-1, wait_ms, 1, max_bytes, _READ_COMMITTED)
    topics = _I32.pack(1) + _I16.pack(len(name)) + name + _I32.pack(1)
    if version == OLDEST:
        body = head + topics + _PARTITION_V4.pack(partition, offset, max_bytes)
    else:
        place = _PARTITION.pack(partition, -1, offset, -1, max_bytes)
        body = head + _NO_SESSION.pack(0, -1) + topics + place + _I32.pack(0)
    return frame(API_KEY, version, correlation_id, body)


def decode(answer: bytes, version: int) -> FetchedRecords | Throttled:
    """Raises ValueError, KafkaError, OverLimit or struct.error if the response is malformed."""
    cursor = Cursor(answer, AFTER_CORRELATION_ID)
    throttle_ms = cursor.i32()
    if version != OLDEST and (error := cursor.i16()):
        return FetchedRecords(error, -1, (), memoryview(b""))
    if version != OLDEST:
        cursor.i32()  # session id
    if (topics := cursor.array_length(item_bytes_min=6)) != 1:
        if not topics and throttle_ms > 0:
            return Throttled(throttle_ms / 1000)
        raise ValueError("one topic was requested")
    cursor.text()
    if cursor.array_length(item_bytes_min=30) != 1:
        raise ValueError("one partition was requested")
    cursor.i32()
    error = cursor.i16()
    cursor.i64()  # high watermark
    last_stable_offset = cursor.i64()
    if version != OLDEST:
        cursor.i64()  # log start
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
