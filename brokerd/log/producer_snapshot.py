"""Producer snapshots: the producer state before an offset, so that recovery reads little.

File `<offset>.snapshot`, big-endian: int16 version 1, uint32 CRC-32C of all that follows, int32
count, then per producer: int64 id, int16 epoch, int32 last sequence, int64 last offset, int32 last
offset delta, int64 timestamp, int32 coordinator epoch, int64 first offset of an open transaction
(-1 none). One is written at each roll (for the new segment's base offset) and at a clean stop.
"""

import logging
import os
import struct
from collections.abc import Collection
from typing import Final

from crc32c import crc32c

from brokerd.log import file_names
from brokerd.log.io.files import read_whole
from brokerd.log.producer_state_manager import (
    NO_SEQUENCE,
    SEQUENCE_MAX,
    ProducerBatch,
    ProducerEntry,
)

logger = logging.getLogger(__name__)

_VERSION: Final = 1
_HEAD: Final = struct.Struct(">hI")
_COUNT: Final = struct.Struct(">i")
_ENTRY: Final = struct.Struct(">qhiqiqiq")


class CorruptSnapshotError(Exception):
    """A damaged snapshot; an earlier one and the log can replace it."""


def encode(entries: dict[int, ProducerEntry]) -> bytes:
    body = bytearray(_COUNT.pack(len(entries)))
    for producer_id, entry in entries.items():
        last = entry.batches[-1] if entry.batches else None
        body += _ENTRY.pack(
            producer_id,
            entry.epoch,
            last.last_sequence if last else NO_SEQUENCE,
            last.last_offset if last else -1,
            last.last_offset - last.base_offset if last else 0,
            entry.last_timestamp_ms,
            entry.coordinator_epoch,
            entry.txn_first_offset,
        )
    return _HEAD.pack(_VERSION, crc32c(body)) + bytes(body)


def decode(data: bytes) -> dict[int, ProducerEntry]:
    """Raises CorruptSnapshotError."""
    if len(data) < _HEAD.size + _COUNT.size:
        raise CorruptSnapshotError("too short")
    version, crc = _HEAD.unpack_from(data)
    body = memoryview(data)[_HEAD.size :]
    if version != _VERSION or crc32c(body) != crc:
        raise CorruptSnapshotError("wrong version or CRC")
    (count,) = _COUNT.unpack_from(body)
    if len(body) != _COUNT.size + count * _ENTRY.size:
        raise CorruptSnapshotError("wrong length")
    entries = {}
    for row in _ENTRY.iter_unpack(body[_COUNT.size :]):
        producer_id, epoch, sequence, offset, delta, timestamp_ms, coordinator, txn_first = row
        batches: tuple[ProducerBatch, ...] = ()
        if sequence != NO_SEQUENCE:
            first = sequence - delta if sequence >= delta else sequence - delta + SEQUENCE_MAX + 1
            batches = (ProducerBatch(first, sequence, offset - delta, offset, timestamp_ms),)
        entries[producer_id] = ProducerEntry(epoch, timestamp_ms, batches, coordinator, txn_first)
    return entries


def save(
    directory: str, offset: int, entries: dict[int, ProducerEntry], bases: Collection[int]
) -> None:
    """Writes the snapshot for `offset`, and removes others that are not for a segment (`bases`: the
    segments' base offsets). Raises OSError. It is not synced: after a power failure its CRC shows
    damage."""
    path = file_names.segment_file(directory, offset, file_names.SNAPSHOT)
    with open(path, "wb") as file:
        file.write(encode(entries))
    for found in offsets(directory):
        if found != offset and found not in bases:
            os.unlink(file_names.segment_file(directory, found, file_names.SNAPSHOT))


def offsets(directory: str) -> list[int]:
    """The offsets for which a directory holds snapshots, rising."""
    found = (file_names.parse_segment_file(name) for name in os.listdir(directory))
    return sorted(parsed[0] for parsed in found if parsed and parsed[1] == file_names.SNAPSHOT)


def load_latest(
    directory: str, log_start: int, log_end: int
) -> tuple[int, dict[int, ProducerEntry]]:
    """(offset, entries) of the latest intact snapshot in a log; (log start, none) without one.
    Snapshots past the log end, and damaged ones, are removed. Raises OSError."""
    found = offsets(directory)
    while found and found[-1] > log_end:
        os.unlink(file_names.segment_file(directory, found.pop(), file_names.SNAPSHOT))
    return _latest(directory, log_start, found)


def load_before(
    directory: str, log_start: int, before: int
) -> tuple[int, dict[int, ProducerEntry]]:
    """As `load_latest`, for the latest snapshot at or before an offset; later ones stay."""
    return _latest(directory, log_start, [each for each in offsets(directory) if each <= before])


def _latest(
    directory: str, log_start: int, found: list[int]
) -> tuple[int, dict[int, ProducerEntry]]:
    for offset in reversed(found):
        if offset < log_start:
            break
        path = file_names.segment_file(directory, offset, file_names.SNAPSHOT)
        try:
            return offset, decode(read_whole(path))
        except CorruptSnapshotError as error:
            logger.warning("%s is no snapshot of producers (%s): removed", path, error)
            os.unlink(path)
    return log_start, {}


def remove_after(directory: str, offset: int) -> None:
    """Remove the snapshots for offsets past `offset`. Raises OSError."""
    for found in offsets(directory):
        if found > offset:
            os.unlink(file_names.segment_file(directory, found, file_names.SNAPSHOT))
