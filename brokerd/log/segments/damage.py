"""Batches with a damaged header: which they are, and where the intact ones behind them begin.

Nothing but a header says where the next batch begins and which offsets lie where. One whose length
cannot be, or that has another magic, ends a walk. It goes on behind that length where a batch
begins there, else at the next batch that the offset index knows: damage in one batch must not cost
others. Offsets that do not rise show that one of two neighbours is damaged, the CRC and the
neighbour before them tell which; the records of that one cannot be found by their offsets.
"""

import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, Protocol

from brokerd.errors import ErrorCode, KafkaError
from brokerd.log.indexes.offset_index import OffsetIndex
from brokerd.log.io.scan import header_at, is_intact, is_plausible, walk_headers
from brokerd.protocol.records import HEADER_BYTES, BatchHeader

if TYPE_CHECKING:
    from brokerd.log.segments.segment import Segment

logger = logging.getLogger(__name__)

LOGGED_MAX: Final = 100
"""Of one segment the damaged batches that are named in the log."""

PositionedBatch = tuple[int, BatchHeader]
"""Where in its file a batch begins, and its header."""


class DataFile(Protocol):
    """The file of a segment; `fd` raises OSError."""

    @property
    def path(self) -> str: ...

    def fd(self) -> int: ...


class Data(Protocol):
    """What is asked of a segment; `logged_damage` is what was said of it in the log."""

    base_offset: int
    size_bytes: int
    logged_damage: frozenset[tuple[int, str]]

    @property
    def file(self) -> DataFile: ...

    @property
    def highest_offset(self) -> int: ...


def sound_batches(
    segment: Data, index: OffsetIndex, position: int, before: int | None = None
) -> Iterator[PositionedBatch]:
    """The batches of a segment from a position on at which one begins, or should, without those
    that are damaged, each with a line in the log. Raises OSError.

    `index` may be wrong: of its entries those count that fit the data. `before` is the last offset
    of the batch before them, where that is known.
    """
    batches = _chain(segment, index, position, segment.size_bytes)
    return _in_order(segment, index, batches, before)


def up_to_damage(segment: Data, batches: Iterator[PositionedBatch]) -> Iterator[PositionedBatch]:
    """Batches whose CRCs are right, up to the first one whose offsets cannot be. Of two that
    overlap that is the earlier one if offsets are missing before it: no CRC guards a base offset.
    """
    next_offset = segment.base_offset
    held: PositionedBatch | None = None
    for each in batches:
        header = each[1]
        if not next_offset <= header.base_offset <= header.last_offset <= segment.highest_offset:
            break
        if held is not None:
            if header.base_offset <= held[1].last_offset:
                if held[1].base_offset != next_offset:
                    return
                break
            yield held
            next_offset = held[1].last_offset + 1
        held = each
    if held is not None:
        yield held


def behind(segment: Data, index: OffsetIndex, position: int, known_from: int, end: int) -> int:
    """Where to go on behind something at a position that is no batch: the end of the data where
    nothing is known. `known_from` is where the last batch before it begins, whose length may be
    what is damaged. Raises OSError.
    """
    found = _behind_length(segment.file.fd(), position, end)
    if not found:
        known = (
            at for offset, at in index.entries_behind(known_from)
            if _fits(segment, offset, at, end)
        )  # fmt: skip
        found = next(known, end)
    _log_once(segment, position, f"readers pass over all up to byte {found}")
    return found


def end_below(segment: Data, index: OffsetIndex, offset: int) -> tuple[int, int]:
    """Where the last batch ends that ends before `offset`, or the first damaged one begins; and the
    offset behind what lies before. Raises OSError."""
    fd = segment.file.fd()
    while True:
        start = index.floor(offset - 1)
        end, next_offset = start, segment.base_offset
        for position, header in walk_headers(fd, start, segment.size_bytes):
            if not next_offset <= header.base_offset <= header.last_offset < offset:
                break
            end, next_offset = position + header.size_bytes, header.last_offset + 1
        if end > start or start == 0:
            return end, min(next_offset, offset)
        offset = index.offset_behind(start) or 0  # what the entry points to is damaged


def ends_whole(segment: "Segment") -> bool:
    """Whether the data end with a batch. Raises OSError."""
    end = start = segment.index.last_position
    for position, header in sound_batches(segment, segment.index, start):
        end = position + header.size_bytes
    return end == segment.size_bytes


def refuse_blank(segment: Data, position: int) -> None:
    """Raises KafkaError(CORRUPT_MESSAGE), as Kafka answers, where there is not even the claim of a
    batch; and OSError."""
    header = header_at(segment.file.fd(), position)
    if header is None or header.size_bytes < HEADER_BYTES:
        raise KafkaError(
            ErrorCode.CORRUPT_MESSAGE, f"{segment.file.path}: no batch at byte {position}"
        )


def _chain(segment: Data, index: OffsetIndex, position: int, end: int) -> Iterator[PositionedBatch]:
    """The batches that their lengths, or the index, lead to, whatever offsets they claim."""
    fd = segment.file.fd()
    last = position - 1
    while position < end:
        for at, header in walk_headers(fd, position, end):
            inside = _known_inside(segment, index, at, header, end)
            if inside:
                _log_once(segment, at, f"readers pass over all up to byte {inside}")
                last, position = at, inside
                break
            yield at, header
            last, position = at, at + header.size_bytes
        else:
            if position < end:
                position = behind(segment, index, position, last, end)


def _known_inside(segment: Data, index: OffsetIndex, at: int, header: BatchHeader, end: int) -> int:
    """Where another batch begins before a damaged one claims to end; 0 if none does."""
    known = next(index.entries_behind(at), None)
    if known is None or known[1] >= at + header.size_bytes or not _fits(segment, *known, end):
        return 0
    return 0 if is_intact(segment.file.fd(), at, header) else known[1]


def _behind_length(fd: int, position: int, end: int) -> int:
    """Where a batch with another magic ends, if one begins there, or the data end; else 0."""
    header = header_at(fd, position)
    if header is None:
        return 0
    following = position + header.size_bytes
    if not position + HEADER_BYTES <= following <= end:
        return 0
    behind_it = header_at(fd, following)
    is_batch = behind_it is not None and is_plausible(behind_it, end - following)
    return following if following == end or is_batch else 0


def _fits(segment: Data, last_offset: int, position: int, end: int) -> bool:
    """Whether an index entry is one of a batch there. Kafka's may name a later batch's offset: it
    makes one entry for all that was appended together."""
    header = header_at(segment.file.fd(), position)
    return (
        header is not None
        and is_plausible(header, end - position)
        and segment.base_offset <= header.base_offset <= header.last_offset <= last_offset
    )


def _in_order(
    segment: Data, index: OffsetIndex, batches: Iterator[PositionedBatch], before: int | None
) -> Iterator[PositionedBatch]:
    """Those batches whose offsets rise; see `sound_batches`."""
    last_offset = segment.base_offset - 1
    next_offset = None if before is None else before + 1
    held: PositionedBatch | None = None
    for each in batches:
        header = each[1]
        if not last_offset < header.base_offset <= header.last_offset <= segment.highest_offset:
            _log_offsets(segment, each)
            continue
        if held is not None and header.base_offset <= held[1].last_offset:
            follows = next_offset is None or held[1].base_offset == next_offset
            if follows and _is_believed(segment, index, held):
                _log_offsets(segment, each)
                continue
            _log_offsets(segment, held)
        elif held is not None:
            yield held
            last_offset = held[1].last_offset
            next_offset = last_offset + 1
        held = each
    if held is not None:
        yield held


def _is_believed(segment: Data, index: OffsetIndex, batch: PositionedBatch) -> bool:
    """Whether nothing but the offsets of the batch behind it speaks against a batch."""
    position, header = batch
    known = index.offset_behind(position)
    is_possible = known is None or header.last_offset <= known
    is_first = position > 0 or header.base_offset == segment.base_offset
    return is_possible and is_first and is_intact(segment.file.fd(), position, header)


def _log_offsets(segment: Data, batch: PositionedBatch) -> None:
    offset = batch[1].base_offset
    _log_once(segment, batch[0], f"it claims to begin at offset {offset}, which cannot be")


def _log_once(segment: Data, position: int, detail: str) -> None:
    """Once for as long as the segment is known: every reader of the place finds the damage."""
    logged = segment.logged_damage
    if (position, detail) not in logged and len(logged) < LOGGED_MAX:
        segment.logged_damage = logged | {(position, detail)}
        logger.error("%s: the batch at byte %d is damaged: %s", segment.file.path, position, detail)
