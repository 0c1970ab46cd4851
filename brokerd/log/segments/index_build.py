"""The indexes of a segment made anew from its batches.

They are made in memory, and no file is touched: a read that fails half-way (the disk, or no memory)
must leave the segment as it was, with the end at which the next append is written.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Final

from brokerd.log import names
from brokerd.log.indexes.offset_index import IN_MEMORY, OffsetIndex
from brokerd.log.indexes.sparse_indexing import NewlyIndexed, Row, account
from brokerd.log.indexes.time_index import TimeIndex
from brokerd.protocol.records import BatchHeader

if TYPE_CHECKING:
    from brokerd.log.segments.segment import Segment

ROWS_MAX: Final = 1_000
"""So many batches are accounted for at a time."""


def build_indexes(segment: "Segment", batches: Iterable[tuple[int, BatchHeader]]) -> NewlyIndexed:
    """The indexes of the batches from the segment's beginning on."""
    base_offset = segment.base_offset
    index = OffsetIndex(segment.path(names.INDEX), base_offset, IN_MEMORY)
    time_index = TimeIndex(segment.path(names.TIME_INDEX), base_offset, IN_MEMORY)
    built = NewlyIndexed(base_offset, index, time_index, segment.index_interval_bytes)
    rows: Iterator[Row] = (
        (header.last_offset, header.size_bytes, header.max_timestamp) for _, header in batches
    )
    while some := list(islice(rows, ROWS_MAX)):
        account(built, some)
    time_index.append(built.largest_timestamp_ms, built.largest_timestamp_offset)
    return built
