"""The headers of one chunk of a data file: where batches begin, and which offsets end them.

Kept for the next look-up, which will be near. Where offsets do not rise as they should, or the
index knows of batches that the lengths in the headers do not lead to, the headers are gone through
with care (see `damage`).
"""

import os
import struct
from bisect import bisect_right
from typing import TYPE_CHECKING, Final, NamedTuple

from brokerd.limits import INT64_MAX
from brokerd.log.io.scan import CHUNK_BYTES
from brokerd.log.segments.damage import sound_batches
from brokerd.protocol.records import HEADER_BYTES, LENGTH_OVERHEAD_BYTES, MAGIC

if TYPE_CHECKING:
    from brokerd.log.segments.segment import Segment

BATCHES_MAX: Final = CHUNK_BYTES // HEADER_BYTES + 1
LENGTH_MIN: Final = HEADER_BYTES - LENGTH_OVERHEAD_BYTES

# base offset, length, magic, last offset delta of the header at some position
_PREFIX: Final = struct.Struct(">qi4xb6xi")
_unpack_prefix = _PREFIX.unpack_from


class HeaderPage(NamedTuple):
    """From offset `base` on; `lasts` are the last offsets of the batches that begin at `positions`,
    both rising; `end` is the position at which the last batch of the chunk ends.

    What that one claims is confirmed by the batch behind it, which the chunk does not show. So of
    more than one batch it has the first offset alone that it can hold, and `is_open`: whoever looks
    for one behind that looks at both.
    """

    base: int
    end: int
    lasts: list[int]
    positions: list[int]
    is_open: bool = False

    @property
    def following(self) -> tuple[int, int]:
        """Where to read on, and the last offset before."""
        if self.is_open:
            return self.positions[-1], self.lasts[-1] - 1
        return self.end, self.lasts[-1]

    def boundary_at_most(self, position: int, limit: int) -> int:
        """The last known batch boundary up to `limit`; 0 where `position` is not on the page."""
        if not self.positions or not self.positions[0] <= position < self.end:
            return 0
        if self.end <= limit:
            return self.end
        return self.positions[bisect_right(self.positions, limit) - 1]


NO_PAGE: Final = HeaderPage(0, 0, [], [])


def read_page(segment: "Segment", position: int, before: int | None = None) -> HeaderPage:
    """The page that begins at a position; it ends there, too, where no batch begins there.

    `before` is the last offset of the batch before it, where that is known. Raises OSError.
    """
    size_bytes = segment.size_bytes
    chunk = os.pread(segment.file.fd(), min(CHUNK_BYTES, size_bytes - position), position)
    lasts: list[int] = []
    positions: list[int] = []
    at = 0
    last = -1
    is_rising = True
    limit = len(chunk) - _PREFIX.size
    room = size_bytes - position - LENGTH_OVERHEAD_BYTES
    while at <= limit:
        base_offset, length, magic, delta = _unpack_prefix(chunk, at)
        if not LENGTH_MIN <= length <= room - at or magic != MAGIC:
            break
        if base_offset <= last or delta < 0:
            is_rising = False
        last = base_offset + delta
        lasts.append(last)
        positions.append(position + at)
        at += length + LENGTH_OVERHEAD_BYTES
    if not lasts:
        return NO_PAGE._replace(end=position)
    page = HeaderPage(_unpack_prefix(chunk, 0)[0], position + at, lasts, positions)
    if not (is_rising and _is_plausible(segment, page)):
        page = _with_care(segment, page, before)
    elif page.end < size_bytes and len(lasts) > 1 and last > lasts[-2] + 1:
        lasts[-1] = lasts[-2] + 1
        page = HeaderPage(page.base, page.end, lasts, positions, True)
    return _without_doubtful(segment, page, before)


def _is_plausible(segment: "Segment", page: HeaderPage) -> bool:
    """Whether a page agrees with what else is known of the segment."""
    index = segment.index
    known = index.offset_behind(page.positions[-1])
    return (
        segment.base_offset <= page.base
        and page.lasts[-1] <= (segment.highest_offset if known is None else known)
        and index.knows_only(page.positions, page.end)
    )


def _without_doubtful(segment: "Segment", page: HeaderPage, before: int | None) -> HeaderPage:
    """A page whose first batch may claim lower offsets than it has, and so those of batches before
    it, is for what lies behind that one."""
    lasts = page.lasts
    if not lasts:
        return page
    overlaps = before is not None and page.base <= before
    if overlaps or segment.index.doubts(page.positions[0], page.base, lasts[0]):
        return page._replace(base=lasts[1] if len(lasts) > 1 else INT64_MAX)
    return page


def _with_care(segment: "Segment", page: HeaderPage, before: int | None) -> HeaderPage:
    lasts: list[int] = []
    positions: list[int] = []
    base, end = 0, page.end
    for position, header in sound_batches(segment, segment.index, page.positions[0], before):
        if position >= end or len(lasts) == BATCHES_MAX:
            end = position
            break
        if not lasts:
            base = header.base_offset
        lasts.append(header.last_offset)
        positions.append(position)
    return HeaderPage(base, end, lasts, positions)
