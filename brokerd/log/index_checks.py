"""Whether the entries of an index say what lies in the data. No CRC guards an index, so an entry is
compared with the batch that it points to: the last ones when an index is loaded, any other when a
look-up begins there. One that does not fit has the indexes made anew from the data.
"""

import logging
import os
import struct
from functools import cache
from typing import TYPE_CHECKING, Final

from brokerd.errors import ErrorCode, KafkaError
from brokerd.log import names
from brokerd.log.offset_index import CorruptIndexError, OffsetIndex
from brokerd.log.time_index import TimeIndex
from brokerd.log.txn_index import AbortedTxn
from brokerd.protocol.records import HEADER_BYTES, MAGIC, BatchHeader, read_header

if TYPE_CHECKING:
    from brokerd.log.segment import Segment

logger = logging.getLogger(__name__)

_BASE_AND_MAGIC: Final = struct.Struct(">q8xb")


def begins_batch(fd: int, position_bytes: int, lowest: int, highest: int) -> bool:
    """Whether a batch with a base offset in [lowest, highest] begins at a position."""
    data = os.pread(fd, _BASE_AND_MAGIC.size, position_bytes)
    if len(data) < _BASE_AND_MAGIC.size:
        return False
    base_offset, magic = _BASE_AND_MAGIC.unpack(data)
    return bool(magic == MAGIC and lowest <= base_offset <= highest)


def past_damage(segment: "Segment", position: int) -> int:
    """Where to go on behind a batch that claims to end behind its segment: at the next one that the
    index knows, else at the end, from where readers go on to the next segment. (Kafka always does
    that.) KafkaError(CORRUPT_MESSAGE) where there is not even the claim of a batch. Raises OSError.
    """
    fd = segment.file.fd()
    data = os.pread(fd, HEADER_BYTES, position)
    if len(data) < HEADER_BYTES or read_header(data).size_bytes < HEADER_BYTES:
        raise KafkaError(
            ErrorCode.CORRUPT_MESSAGE, f"{segment.file.path}: no batch at byte {position}"
        )
    behind = segment.size_bytes
    for offset, known in segment.index.entries_behind(position):
        if begins_batch(fd, known, segment.base_offset, offset):
            behind = known
            break
    _tell_of_damage(segment.file.path, position, behind)
    return behind


@cache
def _tell_of_damage(path: str, position: int, behind: int) -> None:
    """Once: everyone who reads there comes by."""
    logger.error(
        "%s: the batch at byte %d is damaged, it claims to end behind the file's end: readers pass"
        " over all up to byte %d",
        path, position, behind,
    )  # fmt: skip


def load_offsets(segment: "Segment") -> OffsetIndex:
    """The offset index, if its last entry fits. Raises CorruptIndexError, OSError."""
    path = segment.path(names.INDEX)
    index = OffsetIndex.load(path, segment.base_offset, segment.size_bytes)
    for offset, position in index.entries(len(index) - 1, 1):
        if not begins_batch(segment.file.fd(), position, segment.base_offset, offset):
            raise CorruptIndexError(f"{segment.file.path}: the index does not fit it")
    return index


def load_times(segment: "Segment") -> TimeIndex:
    """The time index, if its last entry fits. Raises CorruptIndexError, OSError."""
    index = TimeIndex.load(segment.path(names.TIME_INDEX), segment.base_offset)
    if segment.size_bytes:
        _check_last_time(segment, index)
    return index


def _check_last_time(segment: "Segment", index: TimeIndex) -> None:
    if not len(index):
        header = read_header(os.pread(segment.file.fd(), HEADER_BYTES, 0))
        # In a segment being written the first entry may not be due yet.
        if header.max_timestamp >= 0 > segment.largest_timestamp_ms:
            raise CorruptIndexError(f"{segment.file.path}: its time index is empty")
        return
    timestamp_ms, offset = index.last
    if timestamp_at(segment, offset) != timestamp_ms:
        raise CorruptIndexError(f"{segment.file.path}: the time index does not fit it")


def time_floor(segment: "Segment", timestamp_ms: int) -> int:
    """The offset up to which the timestamps are at most `timestamp_ms`. Raises OSError."""
    try:
        known_ms, offset = segment.time_index.floor(timestamp_ms)
    except (CorruptIndexError, FileNotFoundError) as error:
        segment.mend(str(error))
    else:
        if known_ms < 0 or timestamp_at(segment, offset) == known_ms:
            return offset
        segment.mend(f"{segment.file.path}: the time index does not fit it at offset {offset}")
    return segment.time_index.floor(timestamp_ms)[1]


def confirm_timestamp(segment: "Segment") -> bool:
    """Compare the largest timestamp with the data; whether it was another one. Raises OSError."""
    before = segment.largest_timestamp()
    if before[0] < 0 or timestamp_at(segment, before[1]) == before[0]:
        return False
    segment.mend(f"{segment.file.path}: its largest timestamp is not {before[0]}")
    return segment.largest_timestamp() != before


def checked_aborted(segment: "Segment", entries: list[AbortedTxn]) -> list[AbortedTxn]:
    """The entries, each of which must end with a marker. Raises CorruptIndexError, OSError."""
    for entry in entries:
        header = _batch_at(segment, entry.last_offset)
        if header is None or not header.is_control or header.producer_id != entry.producer_id:
            path = segment.path(names.TXN_INDEX)
            raise CorruptIndexError(f"{path}: no transaction ends at {entry.last_offset}")
    return entries


def timestamp_at(segment: "Segment", offset: int) -> int:
    """The largest timestamp of the batch that holds an offset; -1 where there is none."""
    header = _batch_at(segment, offset)
    return -1 if header is None else header.max_timestamp


def _batch_at(segment: "Segment", offset: int) -> BatchHeader | None:
    position = segment.locate(offset)
    data = os.pread(segment.file.fd(), HEADER_BYTES, position)
    if position >= segment.size_bytes or len(data) < HEADER_BYTES:
        return None
    return read_header(data)
