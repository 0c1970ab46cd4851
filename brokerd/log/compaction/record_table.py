"""The records of many batches at once, as columns: where each lies, its offset, key and value.

Only the first varint of a record (its length) is read one by one, for that is how the next one is
found; all other fields are read for all records together. A batch that does not hold together (a
wrong CRC, a payload that cannot be decompressed, records that are not where they should be) has no
records here: it is in `damaged`, with the reason.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from brokerd.errors import ErrorCode, KafkaError
from brokerd.log.compaction.offset_map import Bytes, Ints
from brokerd.protocol.compression import DECOMPRESSED_BYTES_MAX, decompress
from brokerd.protocol.records import HEADER_BYTES, BatchHeader, crc_matches

PADDING_BYTES: Final = 144  # what a look-ahead may read behind the last record
TABLE_BYTES_MAX: Final = 4 << 20
_VARINT_BITS_MAX: Final = 63

Bools = npt.NDArray[np.bool_]


class StoredBatch(NamedTuple):
    """One whole batch as it lies on disk."""

    header: BatchHeader
    view: memoryview


class RecordTable(NamedTuple):
    """Columns over all records of sound batches, in order.

    `rows[n]` is (first, end) of the rows of batch n; `starts` and `ends` say where a record lies in
    `data`, its length varint included, `bodies` where it begins behind that varint and `rests` what
    follows its timestamp. A key length of -1 is a null key.
    """

    data: bytearray
    rows: list[tuple[int, int]]
    damaged: dict[int, str]
    batch_of: Ints
    starts: Ints
    bodies: Ints
    rests: Ints
    ends: Ints
    timestamps: Ints
    offsets: Ints
    key_starts: Ints
    key_lengths: Ints
    has_value: Bools

    @property
    def bytes(self) -> Bytes:
        return np.frombuffer(self.data, np.uint8)


def tables(batches: Iterable[StoredBatch]) -> Iterator[tuple[list[StoredBatch], RecordTable]]:
    """Batches with the table of their records, so many at a time as memory allows."""
    some: list[StoredBatch] = []
    payloads: list[memoryview] = []
    damaged: dict[int, str] = {}
    size = 0
    for batch in batches:
        try:
            payloads.append(_payload(batch))
        except KafkaError as error:
            damaged[len(some)] = str(error)
            payloads.append(memoryview(b""))
        some.append(batch)
        size += len(payloads[-1])
        if size > TABLE_BYTES_MAX:
            yield some, _table(some, payloads, damaged)
            some, payloads, damaged, size = [], [], {}, 0
    if some:
        yield some, _table(some, payloads, damaged)


def _table(
    batches: Sequence[StoredBatch], payloads: Sequence[memoryview], damaged: dict[int, str]
) -> RecordTable:
    data = bytearray().join((*payloads, bytes(PADDING_BYTES)))
    bodies: list[int] = []
    ends: list[int] = []
    starts: list[int] = []
    rows: list[tuple[int, int]] = []
    position = 0
    for number, (batch, payload) in enumerate(zip(batches, payloads, strict=True)):
        first = len(starts)
        if number not in damaged and not _walk(
            data, position, position + len(payload), batch.header.count, starts, bodies, ends
        ):
            damaged[number] = "its records are not where their lengths say"
            del starts[first:], bodies[first:], ends[first:]
        rows.append((first, len(starts)))
        position += len(payload)
    return _columns(data, batches, rows, damaged, starts, bodies, ends)


def _payload(batch: StoredBatch) -> memoryview:
    header, view = batch
    if not crc_matches(header, view):
        raise KafkaError(ErrorCode.CORRUPT_MESSAGE, "it does not match its CRC")
    return decompress(
        header.codec, view[HEADER_BYTES : header.size_bytes], DECOMPRESSED_BYTES_MAX
    )


def _walk(
    data: bytearray,
    position: int,
    end: int,
    count: int,
    starts: list[int],
    bodies: list[int],
    ends: list[int],
) -> bool:
    """Find `count` records that fill [position, end); whether they do."""
    for _ in range(count):
        if position >= end:
            return False
        starts.append(position)
        byte = data[position]
        position += 1
        if byte >= 0x80:
            size = byte & 0x7F
            shift = 7
            while byte >= 0x80:
                if shift > 28:
                    return False
                byte = data[position]
                position += 1
                size |= (byte & 0x7F) << shift
                shift += 7
        else:
            size = byte
        if size & 1:
            return False
        bodies.append(position)
        position += size >> 1
        if position > end:
            return False
        ends.append(position)
    return position == end


def _columns(
    data: bytearray,
    batches: Sequence[StoredBatch],
    rows: list[tuple[int, int]],
    damaged: dict[int, str],
    starts: list[int],
    bodies: list[int],
    ends: list[int],
) -> RecordTable:
    counts = [end - first for first, end in rows]
    batch_of = np.repeat(np.arange(len(rows)), counts)
    view = np.frombuffer(data, np.uint8)
    body, end = np.array(bodies, np.int64), np.array(ends, np.int64)
    timestamp, rest = read_varints(view, np.minimum(body + 1, end))
    delta, at = read_varints(view, np.minimum(rest, end))
    key_length, key_start = read_varints(view, np.minimum(at, end))
    key_end = key_start + np.clip(key_length, 0, len(data))
    value_length, value_start = read_varints(view, np.minimum(key_end, end))
    value_end = value_start + np.clip(value_length, 0, len(data))
    bases = np.array([batch.header.base_offset for batch in batches], np.int64)
    lasts = np.array([batch.header.last_offset_delta for batch in batches], np.int64)
    times = np.array([batch.header.base_timestamp for batch in batches], np.int64)
    rises = np.ones(len(body), np.bool_)
    rises[1:] = (delta[1:] > delta[:-1]) | (batch_of[1:] != batch_of[:-1])
    sound = (rest < end) & (at < end) & (key_end < end) & (value_end < end) & rises & (delta >= 0)
    if len(body):
        sound &= delta <= lasts[batch_of]
    table = RecordTable(
        data, rows, damaged, batch_of, np.array(starts, np.int64), body, rest, end,
        timestamp + times[batch_of] if len(body) else timestamp,
        delta + bases[batch_of] if len(body) else delta,
        key_start, key_length, value_length >= 0,
    )  # fmt: skip
    return table if sound.all() else _without(table, np.unique(batch_of[~sound]))


def _without(table: RecordTable, lying: Ints) -> RecordTable:
    """The table without the records of batches whose fields do not fit them."""
    for number in lying.tolist():
        table.damaged[number] = "a field of a record does not fit it"
    kept = ~np.isin(table.batch_of, lying)
    counts = np.bincount(table.batch_of[kept], minlength=len(table.rows)).tolist()
    rows = []
    first = 0
    for count in counts:
        rows.append((first, first + count))
        first += count
    columns: list[Any] = [column[kept] for column in table[3:]]
    return RecordTable(table.data, rows, table.damaged, *columns)


def read_varints(data: Bytes, at: Ints) -> tuple[Ints, Ints]:
    """The signed number at each position, and the position after it; at most ten bytes are read."""
    byte = data[at]
    values = (byte & 0x7F).astype(np.uint64)
    following = at + 1
    more = np.flatnonzero(byte & 0x80)
    shift = 7
    while more.size and shift <= _VARINT_BITS_MAX:
        byte = data[following[more]]
        values[more] |= (byte & 0x7F).astype(np.uint64) << np.uint64(shift)
        following[more] += 1
        more = more[(byte & 0x80) != 0]
        shift += 7
    following[more] = len(data)  # too long a number: nothing fits behind it
    one = np.uint64(1)
    signed = (values >> one) ^ (~(values & one) + one)
    return signed.view(np.int64), following
