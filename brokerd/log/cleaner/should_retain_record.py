"""Decides which records stay, and for each batch whether it is kept, rewritten, emptied or removed
(Kafka's Cleaner.shouldRetainRecord and MemoryRecords.filterTo).

A record is kept if its offset is above those in the offset map; or if it is the last one of its key
and has a value, or is a tombstone whose batch has not reached its delete horizon. A batch keeps its
offsets, sequence numbers, leader epoch and codec; kept records are copied unchanged. The first time
a batch with a tombstone (or a marker that may be removed) is cleaned, its delete horizon is set:
attribute bit 6 means that the base timestamp is the horizon, and the timestamps count from it.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from brokerd.log.cleaner.offset_map import Ints
from brokerd.log.cleaner.records_as_columns import Bools, RecordTable, StoredBatch
from brokerd.protocol.compression import compress
from brokerd.protocol.records import (
    DELETE_HORIZON,
    HEADER,
    HEADER_BYTES,
    LENGTH_OVERHEAD_BYTES,
    NO_TIMESTAMP,
    BatchHeader,
    Buffer,
    write_crc,
)
from brokerd.protocol.varint import write_varint


class Rules(NamedTuple):
    """The rules of one cleaning. Offsets above `latest_offset` are not in the offset map."""

    latest_offset: int
    now_ms: int
    delete_retention_ms: int


class BatchRules(NamedTuple):
    """Of each batch: whether its transaction allows its removal; whether it is its producer's
    last."""

    may_discard: Sequence[bool]
    last_of_producer: Sequence[bool]


def horizon_of(header: BatchHeader) -> int | None:
    """The delete horizon of a batch's tombstones; None if it is not set yet."""
    return header.base_timestamp if header.attributes & DELETE_HORIZON else None


def filter_batches(
    batches: Sequence[StoredBatch],
    table: RecordTable,
    last_offsets: Ints,
    rules: Rules,
    special: BatchRules,
) -> list[Buffer | None]:
    """The bytes that are kept of each batch: `batch.view` itself, others, or None. `last_offsets`
    is the offset map's answer for the key of each row of the table (-1: unknown)."""
    kept = _should_retain_record(batches, table, last_offsets, rules, special)
    size = len(batches)
    counts = np.bincount(table.batch_of[kept], minlength=size).tolist()
    tombstones = kept & ~table.has_value
    with_tombstones = np.bincount(table.batch_of[tombstones], minlength=size).tolist()
    out: list[Buffer | None] = []
    for number, batch in enumerate(batches):
        header = batch.header
        first, end = table.rows[number]
        if not counts[number]:
            stays = header.producer_id >= 0 and special.last_of_producer[number]
            out.append(_empty(batch) if stays else None)
        else:
            waits = with_tombstones[number] and not header.is_control
            waits = waits or (header.is_control and special.may_discard[number])
            sets_horizon = waits and horizon_of(header) is None
            if counts[number] == end - first and not sets_horizon:
                out.append(batch.view)
            else:
                horizon_ms = rules.now_ms + rules.delete_retention_ms if sets_horizon else None
                rows = np.flatnonzero(kept[first:end]) + first
                out.append(_rewritten(header, table, rows, horizon_ms))
    return out


def _should_retain_record(
    batches: Sequence[StoredBatch],
    table: RecordTable,
    last_offsets: Ints,
    rules: Rules,
    special: BatchRules,
) -> Bools:
    """Whether each row of the table stays."""
    keeps_tombstones = np.empty(len(batches), np.bool_)
    keeps_all = np.zeros(len(batches), np.bool_)
    keeps_none = np.zeros(len(batches), np.bool_)
    for number, (header, _) in enumerate(batches):
        horizon_ms = horizon_of(header)
        is_due = horizon_ms is not None and horizon_ms <= rules.now_ms
        keeps_tombstones[number] = horizon_ms is None or rules.now_ms < horizon_ms
        if header.is_control:
            keeps_none[number] = special.may_discard[number] and is_due
            keeps_all[number] = not keeps_none[number]
        else:
            keeps_none[number] = special.may_discard[number]
    of = table.batch_of
    is_last = (table.key_lengths >= 0) & (table.offsets >= last_offsets)
    kept = is_last & (table.has_value | keeps_tombstones[of])
    kept |= (table.offsets > rules.latest_offset) | keeps_all[of]
    kept &= ~keeps_none[of]
    return np.asarray(kept, np.bool_)


def _empty(batch: StoredBatch) -> Buffer | None:
    """A batch without records that keeps its producer's last sequence number."""
    header = batch.header
    if header.count == 0:
        return batch.view
    flags = header.attributes & ~(DELETE_HORIZON | 0x07)
    return _assemble(header._replace(attributes=flags, base_timestamp=NO_TIMESTAMP, count=0), b"")


def _rewritten(
    header: BatchHeader, table: RecordTable, rows: Ints, horizon_ms: int | None
) -> bytearray:
    latest_ms = header.max_timestamp
    if not header.is_log_append_time:
        latest_ms = int(table.timestamps[rows].max())
    changed = header._replace(max_timestamp=latest_ms, count=len(rows))
    if horizon_ms is None:
        body = _copied(table, rows)
    else:
        body = _retimed(table, rows, horizon_ms)
        changed = changed._replace(
            attributes=header.attributes | DELETE_HORIZON, base_timestamp=horizon_ms
        )
    return _assemble(changed, compress(header.codec, body) if header.codec else body)


def _copied(table: RecordTable, rows: Ints) -> bytearray:
    """The records as they are; neighbours in one piece."""
    breaks = np.flatnonzero(np.diff(rows) != 1)
    firsts = table.starts[rows[np.concatenate(([0], breaks + 1))]].tolist()
    ends = table.ends[rows[np.concatenate((breaks, [len(rows) - 1]))]].tolist()
    view = memoryview(table.data)
    return bytearray().join([view[a:b] for a, b in zip(firsts, ends, strict=True)])


def _retimed(table: RecordTable, rows: Ints, base_ms: int) -> bytearray:
    """The records with timestamps that count from `base_ms`."""
    out = bytearray()
    data = table.data
    for row in rows.tolist():
        record = bytearray(data[table.bodies[row] : table.bodies[row] + 1])
        write_varint(record, int(table.timestamps[row]) - base_ms)
        record += data[table.rests[row] : table.ends[row]]
        write_varint(out, len(record))
        out += record
    return out


def _assemble(header: BatchHeader, body: bytes | bytearray) -> bytearray:
    size = HEADER_BYTES + len(body)
    batch = bytearray(HEADER_BYTES)
    HEADER.pack_into(batch, 0, *header._replace(length=size - LENGTH_OVERHEAD_BYTES))
    batch += body
    write_crc(batch)
    return batch
