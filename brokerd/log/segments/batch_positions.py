"""Where the batches of one chunk of a data file begin, by their offsets; a segment keeps what it
read last for its next look-up. A header that cannot be ends the chunk.
"""

import os
import struct
from bisect import bisect_right
from typing import TYPE_CHECKING, Final, NamedTuple

from brokerd.log.io.scan_batches import CHUNK_BYTES
from brokerd.protocol.records import HEADER_BYTES, LENGTH_OVERHEAD_BYTES, MAGIC

if TYPE_CHECKING:
    from brokerd.log.segments.log_segment import LogSegment

LENGTH_MIN: Final = HEADER_BYTES - LENGTH_OVERHEAD_BYTES

# base offset, length, magic, last offset delta of the header at some position
_PREFIX: Final = struct.Struct(">qi4xb6xi")
_unpack_prefix = _PREFIX.unpack_from


class BatchPositions(NamedTuple):
    """From offset `base` on; `lasts` are the last offsets of the batches that begin at `positions`,
    both rising; `end` is the position at which the last batch of the chunk ends."""

    base: int
    end: int
    lasts: list[int]
    positions: list[int]

    def boundary_at_most(self, position: int, limit: int) -> int:
        """The last known batch boundary up to `limit`; 0 where `position` is not among them."""
        if not self.positions or not self.positions[0] <= position < self.end:
            return 0
        if self.end <= limit:
            return self.end
        return self.positions[bisect_right(self.positions, limit) - 1]


NO_POSITIONS: Final = BatchPositions(0, 0, [], [])


def read_positions(segment: "LogSegment", position: int) -> BatchPositions:
    """The batches of the chunk that begins at a position; none if no batch does. Raises OSError."""
    size_bytes = segment.size_bytes
    chunk = os.pread(segment.file.fd(), min(CHUNK_BYTES, size_bytes - position), position)
    lasts: list[int] = []
    positions: list[int] = []
    at = 0
    last = -1
    limit = len(chunk) - _PREFIX.size
    room = size_bytes - position - LENGTH_OVERHEAD_BYTES
    while at <= limit:
        base_offset, length, magic, delta = _unpack_prefix(chunk, at)
        if not LENGTH_MIN <= length <= room - at or magic != MAGIC:
            break
        if base_offset <= last or delta < 0:
            break
        last = base_offset + delta
        lasts.append(last)
        positions.append(position + at)
        at += length + LENGTH_OVERHEAD_BYTES
    if not lasts:
        return NO_POSITIONS
    return BatchPositions(_unpack_prefix(chunk, 0)[0], position + at, lasts, positions)
