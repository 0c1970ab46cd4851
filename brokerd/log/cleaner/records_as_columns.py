"""The records of many batches as columns. Only the length of a record is read one by one, since
that leads to the next; all other fields are read for all records together.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from brokerd.errors import ErrorCode, KafkaError
from brokerd.log.cleaner.offset_map import Bytes, Ints
from brokerd.protocol.compression import decompress
from brokerd.protocol.records import HEADER_BYTES, BatchHeader, crc_matches
from brokerd.protocol.varint import read_varint

PADDING_BYTES: Final = 144  # what a look-ahead may read behind the last record
TABLE_BYTES_MAX: Final = 1 << 20
RUN_MAX: Final = 64
_VARINT_BITS_MAX: Final = 63

Bools = npt.NDArray[np.bool_]


class StoredBatch(NamedTuple):
    """One whole batch as it lies on disk."""

    header: BatchHeader
    view: memoryview


class RecordTable(NamedTuple):
    """Columns over all records, in order. `rows[n]` is (first, end) of the rows of batch n. In
    `data` a record lies from `starts` (its length varint) to `ends`; `bodies` is behind that
    varint, `rests` behind its timestamp. A key length of -1 is a null key."""

    data: bytearray
    rows: list[tuple[int, int]]
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
    """Batches with the table of their records, in pieces. KafkaError for a damaged one."""
    some: list[StoredBatch] = []
    payloads: list[memoryview] = []
    size = 0
    for batch in batches:
        payloads.append(_payload(batch))
        some.append(batch)
        size += len(payloads[-1])
        if size > TABLE_BYTES_MAX:
            yield some, _table(some, payloads)
            some, payloads, size = [], [], 0
    if some:
        yield some, _table(some, payloads)


def _table(batches: Sequence[StoredBatch], payloads: Sequence[memoryview]) -> RecordTable:
    data = bytearray().join((*payloads, bytes(PADDING_BYTES)))
    starts: list[int] = []
    edges: list[int] = []
    rows: list[tuple[int, int]] = []
    position = 0
    for batch, payload in zip(batches, payloads, strict=True):
        first = len(starts)
        end = position + len(payload)
        if not _walk(data, position, end, batch.header.count, starts):
            raise _damaged(batch, "its records are not where their lengths say")
        rows.append((first, len(starts)))
        edges.append(end)
        position = end
    return _columns(data, batches, rows, np.array(starts, np.int64), edges)


def _payload(batch: StoredBatch) -> memoryview:
    header, view = batch
    if not crc_matches(header, view):
        raise _damaged(batch, "it does not match its CRC")
    try:
        return decompress(header.codec, view[HEADER_BYTES : header.size_bytes])
    except KafkaError as error:
        raise _damaged(batch, error.message) from None


def _damaged(batch: StoredBatch, reason: str) -> KafkaError:
    message = f"the batch at offset {batch.header.base_offset} is damaged: {reason}"
    return KafkaError(ErrorCode.CORRUPT_MESSAGE, message)


def _walk(data: bytearray, position: int, end: int, count: int, starts: list[int]) -> bool:
    """Find where records begin in [position, end); whether they are `count` and fill it. Where two
    neighbours are of one length, so are often many more: records whose lengths are the same bytes
    at the same distance are taken in one step."""
    append = starts.append
    expected = len(starts) + count
    before = 0
    while position < end:
        first = data[position]
        if first < 0x80:
            step = 1 + (first >> 1)
        else:
            second = data[position + 1]
            if second >= 0x80:
                try:
                    size, body = read_varint(memoryview(data), position)
                except KafkaError:
                    return False
                append(position)
                position = body + max(size, 0)
                continue
            step = 2 + (((second << 7) | (first & 0x7F)) >> 1)
        if step == before:
            run = _run(data, position, end, step, 1 if first < 0x80 else 2)
            starts.extend(range(position, position + run * step, step))
            position += run * step
        else:
            append(position)
            position += step
            before = step
    return position == end and len(starts) == expected


def _run(data: bytearray, position: int, end: int, step: int, prefix_bytes: int) -> int:
    """How many records from `position` on have the same length, at least one."""
    until = min(position + RUN_MAX * step, end)
    run = RUN_MAX
    for at in range(position, position + prefix_bytes):
        seen = data[at : until + at - position : step]
        run = min(run, len(seen) - len(seen.lstrip(seen[:1])))
    return run


def _columns(
    data: bytearray,
    batches: Sequence[StoredBatch],
    rows: list[tuple[int, int]],
    start: Ints,
    edges: list[int],
) -> RecordTable:
    counts = [end - first for first, end in rows]
    batch_of = np.repeat(np.arange(len(rows)), counts)
    view = np.frombuffer(data, np.uint8)
    end = np.empty_like(start)
    end[:-1] = start[1:]
    filled = [number for number, count in enumerate(counts) if count]
    end[[rows[number][1] - 1 for number in filled]] = [edges[number] for number in filled]
    size, body = read_varints(view, start)
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
    sound = (body + size == end) & rises & (delta >= 0)
    sound &= (rest < end) & (at < end) & (key_end < end) & (value_end < end)
    if len(body):
        sound &= delta <= lasts[batch_of]
    if not sound.all():
        first_damaged = batches[int(batch_of[~sound][0])]
        raise _damaged(first_damaged, "a field of a record does not fit it")
    return RecordTable(
        data, rows, batch_of, start, body, rest, end,
        timestamp + times[batch_of] if len(body) else timestamp,
        delta + bases[batch_of] if len(body) else delta,
        key_start, key_length, value_length >= 0,
    )  # fmt: skip


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
