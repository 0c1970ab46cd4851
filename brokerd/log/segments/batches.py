"""The batches of a segment as far as their headers hold together.

Nothing but a header says where the next batch begins and which offsets lie where. As in Apache
Kafka a walk ends at the first one that cannot be: a look-up goes on in the next segment, recovery
cuts there.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from brokerd.errors import ErrorCode, KafkaError
from brokerd.log.io.scan import header_at, walk_headers
from brokerd.protocol.records import HEADER_BYTES, BatchHeader

if TYPE_CHECKING:
    from brokerd.log.segments.segment import Segment

PositionedBatch = tuple[int, BatchHeader]
"""Where in its file a batch begins, and its header."""


def batches_from(segment: "Segment", position: int) -> Iterator[PositionedBatch]:
    """The batches from a position on at which one begins. Raises OSError."""
    return up_to_damage(segment, walk_headers(segment.file.fd(), position, segment.size_bytes))


def up_to_damage(
    segment: "Segment", batches: Iterator[PositionedBatch]
) -> Iterator[PositionedBatch]:
    """Batches up to the first one whose offsets cannot be: no CRC guards a base offset."""
    last_offset = segment.base_offset - 1
    for each in batches:
        header = each[1]
        if not last_offset < header.base_offset <= header.last_offset <= segment.highest_offset:
            return
        yield each
        last_offset = header.last_offset


def refuse_blank(segment: "Segment", position: int) -> None:
    """CORRUPT_MESSAGE, as in Kafka, where there is not even the claim of a batch."""
    header = header_at(segment.file.fd(), position)
    if header is None or header.size_bytes < HEADER_BYTES:
        raise KafkaError(
            ErrorCode.CORRUPT_MESSAGE, f"{segment.file.path}: no batch at byte {position}"
        )
