"""Reading that takes long, by any thread while logs are used. It opens files of its own and writes
none; what it found is taken in where logs are used, if it still counts by then.
"""

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

from brokerd.errors import KafkaError
from brokerd.log import damage, names
from brokerd.log.offset_index import OffsetIndex
from brokerd.protocol.records import BatchHeader

if TYPE_CHECKING:
    from brokerd.log.indexed_data import IndexedData
    from brokerd.log.open_files import FileRange

logger = logging.getLogger(__name__)

Found = TypeVar("Found")


class AsideSpot(Generic[Found]):
    """What `read` finds in any thread, for `take`. See `cold.Spot`.

    `is_void` says where logs are used whether it counts no more. Who waits for the same `subject`
    waits for the same reading.
    """

    __slots__ = ("_found", "_is_void", "_read", "_take", "subject")

    def __init__(
        self,
        subject: object,
        read: Callable[[], Found],
        take: Callable[[Found], object],
        is_void: Callable[[], bool],
    ) -> None:
        self.subject: object | None = subject
        self._read = read
        self._take = take
        self._is_void = is_void
        self._found: list[Found] = []

    def warm(self) -> None:
        """Read. Raises OSError."""
        self._found = [self._read()]

    def release(self) -> None:
        """Hand over what was found. A second call does nothing."""
        found, self._found = self._found, []
        if not found or self._is_void():
            return
        try:
            self._take(found[0])
        except (OSError, KafkaError) as error:  # whoever looks next is told
            logger.warning("what was read of a log cannot be taken in: %s", error)


class DataAside:
    """The data of a segment up to where they end now, as `damage.Data`.

    They are read by a descriptor of their own, opened at the first read; or by that of `pinned`,
    which whoever pinned it releases.
    """

    def __init__(self, segment: "IndexedData", pinned: "FileRange | None" = None) -> None:
        self.directory = segment.directory
        self.base_offset = segment.base_offset
        self.highest_offset = segment.highest_offset
        self.size_bytes = segment.size_bytes
        self.index_interval_bytes = segment.index_interval_bytes
        self.told = segment.told
        self.file = self
        self.path = segment.file.path
        self._pinned = pinned
        self._fd = -1

    def fd(self) -> int:
        if self._pinned is not None:
            return self._pinned.fd
        if self._fd < 0:
            self._fd = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        return self._fd

    def close(self) -> None:
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)


def batches_aside(data: DataAside) -> Iterator[damage.Placed]:
    """The batches of a segment, past damaged ones. Raises OSError."""
    path = names.segment_file(data.directory, data.base_offset, names.INDEX)
    known = OffsetIndex.salvage(path, data.base_offset)
    return damage.sound_batches(data, known, 0)


def headers_aside(
    parts: Sequence[DataAside], offset: int
) -> Iterator[tuple[DataAside, int, BatchHeader]]:
    """(data, position, header) of the batches from the one that holds `offset` on, in segments that
    follow each other. Raises OSError."""
    for data in parts:
        try:
            for position, header in batches_aside(data):
                if header.last_offset >= offset:
                    yield data, position, header
        finally:
            data.close()
