"""Assigns offsets to a group of batches and checks their sequence numbers, before they are written
(in Kafka's UnifiedLog.append: the assigned offsets, analyzeAndValidateProducerState). Size and CRC
have been checked before (`log_validator/validate_size_and_crc`).

Nothing here changes the log. Offsets and leader epoch are written into the batches (both are
outside the CRC); the rest is collected in a `Staged`, which the log applies after the write
succeeded. No record is decoded.
"""

import struct
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from brokerd.errors import ErrorCode
from brokerd.log import producer_state_manager
from brokerd.log.producer_state_manager import ProducerBatch, ProducerStateManager, last_sequence_of
from brokerd.protocol.records import LOG_APPEND_TIME, BatchHeader, Buffer, write_crc

# From byte 21: attributes, last offset delta, (base timestamp), max timestamp, producer id,
# producer epoch, base sequence.
_FIELDS_AT: Final = 21
_FIELDS: Final = struct.Struct(">hi8xqqhi")
_STAMP: Final = struct.Struct(">qii")
_ATTRIBUTES: Final = struct.Struct(">h")
_MAX_TIMESTAMP_AT: Final = 35
_MAX_TIMESTAMP: Final = struct.Struct(">q")

_unpack_fields = _FIELDS.unpack_from
_new_tuple: Final[Any] = tuple.__new__
"""A named tuple's own constructor takes three times as long."""
_pack_stamp = _STAMP.pack_into


class AppendResult(NamedTuple):
    """The result of one batch. A refused one has an `error` and the offsets -1;
    `log_append_time_ms` is -1 with CreateTime. A duplicate has the offsets of its first append and,
    as in Kafka, the largest timestamp."""

    base_offset: int
    last_offset: int
    log_append_time_ms: int
    error: ErrorCode | None
    duplicate: bool


class Staged:
    """Batches ready to be written: `rows` is (last offset, size, max timestamp) of each."""

    __slots__ = (
        "buffers", "max_timestamp_ms", "next_offset", "producers", "results", "rows", "size_bytes",
    )  # fmt: skip

    def __init__(self, next_offset: int) -> None:
        self.next_offset = next_offset
        self.max_timestamp_ms = -1
        self.size_bytes = 0
        self.buffers: Sequence[Buffer] = ()
        self.rows: list[tuple[int, int, int]] = []
        self.results: list[AppendResult] = []
        self.producers: producer_state_manager.StagedProducers = {}


def stage(
    batches: Sequence[Buffer],
    next_offset: int,
    leader_epoch: int,
    producers: ProducerStateManager,
    append_time_ms: int,
) -> Staged:
    """Gives batches offsets from `next_offset` on, and new timestamps unless the time is -1."""
    staged = Staged(next_offset)
    rows, results = staged.rows, staged.results
    answered: set[int] = set()
    latest_ms = -1
    size_bytes = 0
    for view in batches:
        if append_time_ms >= 0:
            _stamp_time(view, append_time_ms)
        _, delta, timestamp_ms, producer_id, epoch, sequence = _unpack_fields(view, _FIELDS_AT)
        last_offset = next_offset + delta
        if producer_id >= 0:
            last_sequence = last_sequence_of(sequence, delta)
            one = (sequence, last_sequence, next_offset, last_offset, timestamp_ms)
            if _stage_producer(staged, producers, producer_id, epoch, one):
                answered.add(len(results) - 1)
                continue
        size = len(view)
        _pack_stamp(view, 0, next_offset, size - 12, leader_epoch)
        rows.append((last_offset, size, timestamp_ms))
        results.append(
            _new_tuple(AppendResult, (next_offset, last_offset, append_time_ms, None, False))
        )
        size_bytes += size
        if timestamp_ms > latest_ms:
            latest_ms = timestamp_ms
        next_offset = last_offset + 1
    staged.buffers = batches
    if answered:
        staged.buffers = [each for n, each in enumerate(batches) if n not in answered]
    staged.max_timestamp_ms, staged.size_bytes = latest_ms, size_bytes
    staged.next_offset = next_offset
    return staged


def _stage_producer(
    staged: Staged,
    producers: ProducerStateManager,
    producer_id: int,
    epoch: int,
    batch: tuple[int, int, int, int, int],
) -> bool:
    """Whether its producer's state refuses the batch or knows it; then `staged` has the result."""
    one = _new_tuple(ProducerBatch, batch)
    verdict = producers.stage(staged.producers, producer_id, epoch, one)
    if verdict is None:
        return False
    if isinstance(verdict, ProducerBatch):
        result = AppendResult(
            verdict.base_offset, verdict.last_offset, verdict.timestamp_ms, None, True
        )
    else:
        result = AppendResult(-1, -1, -1, verdict, False)
    staged.results.append(result)
    return True


def stage_replicated(batches: Sequence[tuple[BatchHeader, Buffer]]) -> Staged:
    """Stages batches of a leader with the offsets and epochs that they have."""
    staged = Staged(batches[0][0].base_offset)
    staged.buffers = [view for _, view in batches]
    for header, view in batches:
        staged.rows.append((header.last_offset, len(view), header.max_timestamp))
        staged.size_bytes += len(view)
        staged.max_timestamp_ms = max(staged.max_timestamp_ms, header.max_timestamp)
        staged.next_offset = header.last_offset + 1
    return staged


def _stamp_time(view: Buffer, now_ms: int) -> None:
    (attributes,) = _ATTRIBUTES.unpack_from(view, _FIELDS_AT)
    _ATTRIBUTES.pack_into(view, _FIELDS_AT, attributes | LOG_APPEND_TIME)
    _MAX_TIMESTAMP.pack_into(view, _MAX_TIMESTAMP_AT, now_ms)
    write_crc(view)
