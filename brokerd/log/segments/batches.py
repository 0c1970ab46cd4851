"""The batches of a segment as far as their headers hold together, and indexes built from them.

As in Apache Kafka a walk ends at the first header that cannot be: a look-up goes on in the next
segment, recovery cuts there. Indexes are built in memory, and no file is touched: a read that fails
half-way must leave the segment as it was.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Final

from brokerd.errors import ErrorCode, KafkaError
from brokerd.integer_ranges import INT32_MAX
from brokerd.log import file_names
from brokerd.log.indexes.index_interval import RebuiltIndexes, Row, index_batches
from brokerd.log.indexes.offset_index import IN_MEMORY, OffsetIndex
from brokerd.log.indexes.time_index import TimeIndex
from brokerd.log.io.scan_batches import header_at
from brokerd.protocol.records import HEADER_BYTES, BatchHeader

if TYPE_CHECKING:
    from brokerd.log.segments.log_segment import LogSegment

ROWS_MAX: Final = 1_000
"""So many batches are indexed at a time."""
PositionedBatch = tuple[int, BatchHeader]
"""Where in its file a batch begins, and its header."""


def up_to_damage(
    segment: "LogSegment", batches: Iterator[PositionedBatch]
) -> Iterator[PositionedBatch]:
    """Batches up to the first one whose offsets cannot be: no CRC guards a base offset."""
    last_offset = segment.base_offset - 1
    highest = segment.base_offset + INT32_MAX  # indexes have 32 bits relative to the base
    for each in batches:
        header = each[1]
        if not last_offset < header.base_offset <= header.last_offset <= highest:
            return
        yield each
        last_offset = header.last_offset


def refuse_blank(segment: "LogSegment", position: int) -> None:
    """Raises CORRUPT_MESSAGE, as Kafka, if `position` has no batch header with a possible size."""
    header = header_at(segment.file.fd(), position)
    if header is None or header.size_bytes < HEADER_BYTES:
        raise KafkaError(
            ErrorCode.CORRUPT_MESSAGE, f"{segment.file.path}: no batch at byte {position}"
        )


def build_indexes(segment: "LogSegment", batches: Iterable[PositionedBatch]) -> RebuiltIndexes:
    """The indexes of the batches from the segment's beginning on."""
    base_offset = segment.base_offset
    index = OffsetIndex(segment.path(file_names.INDEX), base_offset, IN_MEMORY)
    time_index = TimeIndex(segment.path(file_names.TIME_INDEX), base_offset, IN_MEMORY)
    built = RebuiltIndexes(base_offset, index, time_index, segment.index_interval_bytes)
    rows: Iterator[Row] = (
        (header.last_offset, header.size_bytes, header.max_timestamp) for _, header in batches
    )
    while some := list(islice(rows, ROWS_MAX)):
        index_batches(built, some)
    time_index.append(built.largest_timestamp_ms, built.largest_timestamp_offset)
    return built
