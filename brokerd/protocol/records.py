"""Record batches, format version 2: what producers send, what lies on disk, what consumers get.

A batch is a 61-byte header and its records (compressed together or not). Big-endian:

    byte  0  base_offset        int64   stamped by the leader, outside the CRC
          8  length             int32   bytes after this field (batch size - 12)
         12  leader_epoch       int32   stamped by the leader, outside the CRC
         16  magic              int8    2
         17  crc                uint32  CRC-32C of everything from byte 21 on
         21  attributes         int16   bits 0-2 codec, 3 timestamp type (1 = log append time),
                                        4 transactional, 5 control,
                                        6 base_timestamp is a delete horizon
         23  last_offset_delta  int32   last offset = base_offset + this
         27  base_timestamp     int64   ms
         35  max_timestamp      int64   ms
         43  producer_id        int64   -1: not idempotent
         51  producer_epoch     int16
         53  base_sequence      int32
         57  count              int32   records; compaction may leave less than
                                        last_offset_delta + 1

A record: varint length, int8 attributes, varint timestamp delta, varint offset delta, then key
and value (varint length, -1 = null), then varint count of headers, each key (string) and value.

The broker looks at headers only: a batch travels as a memoryview and its records are opened by
`iter_records` alone, which trusts nothing inside.
"""

import struct
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from crc32c import crc32c

from brokerd.errors import ErrorCode, KafkaError
from brokerd.integer_ranges import INT32_MAX, INT64_MAX
from brokerd.protocol.compression import Codec, compress, decompress
from brokerd.protocol.varint import read_varint, write_varint

HEADER: Final = struct.Struct(">qiibIhiqqqhii")
HEADER_BYTES: Final = HEADER.size
LENGTH_OVERHEAD_BYTES: Final = 12
CRC_START: Final = 21
MAGIC: Final = 2

CODEC_MASK: Final = 0x07
LOG_APPEND_TIME: Final = 0x08
TRANSACTIONAL: Final = 0x10
CONTROL: Final = 0x20
DELETE_HORIZON: Final = 0x40
FLAGS: Final = LOG_APPEND_TIME | TRANSACTIONAL | CONTROL | DELETE_HORIZON
NO_TIMESTAMP: Final = -1
Buffer = memoryview | bytearray
"""The bytes of a batch."""
RECORD_BYTES_MIN: Final = 7
"""Its length, attributes, two deltas, no key, no value, no headers."""

_unpack_header = HEADER.unpack_from
_INT32_END: Final = INT32_MAX + 1
_INT64_END: Final = INT64_MAX + 1


class BatchHeader(NamedTuple):
    """The 61 bytes, in their order on disk."""

    base_offset: int
    length: int
    leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    count: int  # type: ignore[assignment]  # hides tuple.count, which nobody needs here

    @property
    def codec(self) -> int:
        return self.attributes & CODEC_MASK

    @property
    def is_log_append_time(self) -> bool:
        return bool(self.attributes & LOG_APPEND_TIME)

    @property
    def is_transactional(self) -> bool:
        return bool(self.attributes & TRANSACTIONAL)

    @property
    def is_control(self) -> bool:
        return bool(self.attributes & CONTROL)

    @property
    def last_offset(self) -> int:
        return self.base_offset + self.last_offset_delta

    @property
    def size_bytes(self) -> int:
        """The whole batch, header included."""
        return self.length + LENGTH_OVERHEAD_BYTES


class Record(NamedTuple):
    """One record; `headers` are (key, value) pairs in the order written."""

    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()


def read_header(data: bytes | bytearray | memoryview, position: int = 0) -> BatchHeader:
    """The header at `position`, unchecked. The data must hold 61 bytes from there."""
    return BatchHeader._make(_unpack_header(data, position))


def crc_matches(header: BatchHeader, view: memoryview) -> bool:
    """Whether the bytes of the whole batch `view` are those its header's CRC was taken of."""
    return crc32c(view[CRC_START : header.size_bytes]) == header.crc


def iter_batches(view: memoryview) -> Iterator[tuple[BatchHeader, memoryview]]:
    """Each whole batch in `view` with its header; a torn one at the end is left out. Raises
    KafkaError(CORRUPT_MESSAGE) where no batch of format 2 starts."""
    position = 0
    while position + HEADER_BYTES <= len(view):
        header = read_header(view, position)
        size = header.size_bytes
        if header.magic != MAGIC or size < HEADER_BYTES:
            raise KafkaError(
                ErrorCode.CORRUPT_MESSAGE, f"no batch of format 2 starts at byte {position}"
            )
        if position + size > len(view):
            return
        yield header, view[position : position + size]
        position += size


def iter_records(
    header: BatchHeader, view: memoryview, max_bytes: int | None = None
) -> Iterator[Record]:
    """The records of the whole batch `view`, decompressed to at most `max_bytes`, or to what
    `decompress` allows. Raises KafkaError(INVALID_RECORD) at the first damaged record."""
    data = decompress(header.codec, view[HEADER_BYTES : header.size_bytes], max_bytes)
    position = 0
    for _ in range(header.count):
        size, start = read_varint(data, position)
        position = start + size
        if size < 0 or position > len(data):
            raise KafkaError(
                ErrorCode.INVALID_RECORD, f"a record of {size} bytes does not fit its batch"
            )
        yield _decode_record(header, data[start:position])
    if position != len(data):
        raise KafkaError(
            ErrorCode.INVALID_RECORD, f"{len(data) - position} bytes follow the last record"
        )


def _decode_record(header: BatchHeader, data: memoryview) -> Record:
    timestamp_delta, position = read_varint(data, 1)
    offset_delta, position = read_varint(data, position)
    if not -_INT32_END <= offset_delta < _INT32_END:
        raise KafkaError(ErrorCode.INVALID_RECORD, f"a record cannot be numbered {offset_delta}")
    key, position = _read_bytes(data, position)
    value, position = _read_bytes(data, position)
    header_count, position = read_varint(data, position)
    if not 0 <= header_count <= len(data):
        raise KafkaError(ErrorCode.INVALID_RECORD, f"a record cannot have {header_count} headers")
    headers = []
    for _ in range(header_count):
        name, position = _read_bytes(data, position)
        if name is None:
            raise KafkaError(ErrorCode.INVALID_RECORD, "a record header has no key")
        content, position = _read_bytes(data, position)
        headers.append((name.decode("utf-8", "replace"), content))
    if position != len(data):
        raise KafkaError(ErrorCode.INVALID_RECORD, "a record is longer than its fields")
    if header.is_log_append_time:
        timestamp_ms = header.max_timestamp
    else:
        timestamp_ms = wrapped_timestamp(header.base_timestamp + timestamp_delta)
    return Record(header.base_offset + offset_delta, timestamp_ms, key, value, tuple(headers))


def wrapped_timestamp(timestamp_ms: int) -> int:
    """A batch's first timestamp and a difference: the sum goes round, as Java's long does."""
    if -_INT64_END <= timestamp_ms < _INT64_END:
        return timestamp_ms
    return (timestamp_ms + _INT64_END) % (2 * _INT64_END) - _INT64_END


def _read_bytes(data: memoryview, position: int) -> tuple[bytes | None, int]:
    size, position = read_varint(data, position)
    if size < 0:
        return None, position
    end = position + size
    if end > len(data):
        raise KafkaError(ErrorCode.INVALID_RECORD, f"a field of {size} bytes does not fit")
    return bytes(data[position:end]), end


def encode_batch(
    records: Sequence[Record],
    *,
    base_offset: int = 0,
    codec: int = Codec.NONE,
    leader_epoch: int = -1,
    producer_id: int = -1,
    producer_epoch: int = -1,
    base_sequence: int = -1,
    attributes: int = 0,
) -> bytearray:
    """A batch of at least one record. Offsets are `base_offset` and up, whatever the records say.
    `attributes` are flags besides the codec (TRANSACTIONAL, CONTROL, LOG_APPEND_TIME)."""
    if not records:
        raise ValueError("a batch needs at least one record")
    base_timestamp = records[0].timestamp_ms
    body = bytearray()
    for offset_delta, record in enumerate(records):
        encoded = _encode_record(record, record.timestamp_ms - base_timestamp, offset_delta)
        write_varint(body, len(encoded))
        body += encoded
    batch = bytearray(HEADER_BYTES)
    batch += compress(codec, body) if codec else body
    count = len(records)
    max_timestamp = max(record.timestamp_ms for record in records)
    HEADER.pack_into(
        batch, 0, base_offset, len(batch) - LENGTH_OVERHEAD_BYTES, leader_epoch, MAGIC, 0,
        attributes | codec, count - 1, base_timestamp, max_timestamp,
        producer_id, producer_epoch, base_sequence, count,
    )  # fmt: skip
    write_crc(batch)
    return batch


def write_crc(batch: bytearray | memoryview) -> None:
    """Take the CRC of a whole batch whose header was changed, and write it in place."""
    struct.pack_into(">I", batch, 17, crc32c(memoryview(batch)[CRC_START:]))


def _encode_record(record: Record, timestamp_delta: int, offset_delta: int) -> bytearray:
    out = bytearray(1)
    write_varint(out, timestamp_delta)
    write_varint(out, offset_delta)
    _write_bytes(out, record.key)
    _write_bytes(out, record.value)
    write_varint(out, len(record.headers))
    for name, content in record.headers:
        _write_bytes(out, name.encode())
        _write_bytes(out, content)
    return out


def _write_bytes(out: bytearray, data: bytes | None) -> None:
    if data is None:
        out.append(1)  # the varint of -1
        return
    write_varint(out, len(data))
    out += data
