"""The batches of a segment as far as their headers hold together.

Nothing but a header says where the next batch begins and which offsets lie where. As in Apache
Kafka a walk ends at the first one that cannot be: a look-up goes on in the next segment, recovery
cuts there.
"""

from collections.abc import Iterator
from typing import Protocol

from brokerd.errors import ErrorCode, KafkaError
from brokerd.log.io.scan import header_at, is_plausible, walk_headers
from brokerd.protocol.records import HEADER_BYTES, BatchHeader

PositionedBatch = tuple[int, BatchHeader]
"""Where in its file a batch begins, and its header."""


class DataFile(Protocol):
    """The file of a segment; `fd` raises OSError."""

    @property
    def path(self) -> str: ...

    def fd(self) -> int: ...


class Data(Protocol):
    """What is asked of a segment."""

    base_offset: int
    size_bytes: int

    @property
    def file(self) -> DataFile: ...

    @property
    def highest_offset(self) -> int: ...


def batches_from(segment: Data, position: int) -> Iterator[PositionedBatch]:
    """The batches from a position on at which one begins. Raises OSError."""
    return up_to_damage(segment, walk_headers(segment.file.fd(), position, segment.size_bytes))


def up_to_damage(segment: Data, batches: Iterator[PositionedBatch]) -> Iterator[PositionedBatch]:
    """Batches up to the first one whose offsets cannot be: no CRC guards a base offset."""
    last_offset = segment.base_offset - 1
    for each in batches:
        header = each[1]
        if not last_offset < header.base_offset <= header.last_offset <= segment.highest_offset:
            return
        yield each
        last_offset = header.last_offset


def fits(segment: Data, last_offset: int, position: int) -> bool:
    """Whether an index entry is one of a batch there. Kafka's may name a later batch's offset: it
    makes one entry for all that was appended together. Raises OSError."""
    header = header_at(segment.file.fd(), position)
    return (
        header is not None
        and is_plausible(header, segment.size_bytes - position)
        and segment.base_offset <= header.base_offset <= header.last_offset <= last_offset
    )


def refuse_blank(segment: Data, position: int) -> None:
    """Raises KafkaError(CORRUPT_MESSAGE), as Kafka answers, where there is not even the claim of a
    batch; and OSError."""
    header = header_at(segment.file.fd(), position)
    if header is None or header.size_bytes < HEADER_BYTES:
        raise KafkaError(
            ErrorCode.CORRUPT_MESSAGE, f"{segment.file.path}: no batch at byte {position}"
        )
