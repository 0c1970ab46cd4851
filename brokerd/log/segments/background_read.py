"""Long reads of logs by any thread while the logs are in use. A thread opens files of its own and
writes none; its result is applied in the thread that uses the log, unless the log has changed.
"""

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

from brokerd.errors import KafkaError
from brokerd.log.segments.batches import batches_from
from brokerd.protocol.records import BatchHeader

if TYPE_CHECKING:
    from brokerd.log.io.open_files import FileRange
    from brokerd.log.segments.segment import Segment

logger = logging.getLogger(__name__)

Found = TypeVar("Found")


class BackgroundRead(Generic[Found]):
    """A `page_cache.PendingRead`: a thread calls `read`, then the user of the log `take`.

    `is_void` returns whether the result is no longer valid. Requests that need the same `subject`
    share one read.
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

    def load(self) -> None:
        """Read. Raises OSError."""
        self._found = [self._read()]

    def release(self) -> None:
        """Apply the result. A second call does nothing."""
        found, self._found = self._found, []
        if not found or self._is_void():
            return
        try:
            self._take(found[0])
        except (OSError, KafkaError) as error:  # the next attempt gets it
            logger.warning("a result of a background read cannot be applied: %s", error)


class SegmentSnapshot:
    """The data of a segment up to its present end, as `batches.Data`.

    It has a file descriptor of its own, opened at the first read, or that of `pinned`, which its
    owner releases.
    """

    def __init__(self, segment: "Segment", pinned: "FileRange | None" = None) -> None:
        self.directory = segment.directory
        self.base_offset = segment.base_offset
        self.highest_offset = segment.highest_offset
        self.size_bytes = segment.size_bytes
        self.index_interval_bytes = segment.index_interval_bytes
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


def snapshot_headers(
    parts: Sequence[SegmentSnapshot], offset: int
) -> Iterator[tuple[SegmentSnapshot, int, BatchHeader]]:
    """(data, position, header) of the batches from the one that holds `offset` on, in segments that
    follow each other. Raises OSError."""
    for data in parts:
        try:
            for position, header in batches_from(data, 0):
                if header.last_offset >= offset:
                    yield data, position, header
        finally:
            data.close()
