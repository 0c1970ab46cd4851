"""Whether bytes are in the page cache, and reads of bytes that are not.

A read of pages that are not in memory takes milliseconds, and so does sendfile; on the event loop
all clients would wait. A call with `may_block=False` raises NotInPageCache instead. Its
`pending_read` is loaded by a thread; then the same call is made again.

The system says whether bytes are in memory (preadv with RWF_NOWAIT), and then starts to read them.
Of a larger range a byte in every 64 KiB is asked for, since read-ahead arrives piece by piece.
"""

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Protocol

from brokerd.log import file_names
from brokerd.log.io.files import opened
from brokerd.log.io.scan_batches import CHUNK_BYTES

if TYPE_CHECKING:
    from brokerd.log.io.open_files import FileRange
    from brokerd.log.segments.log_segment import LogSegment

READ_AHEAD_BYTES: Final = 1 << 20
READ_AHEAD_MAX_BYTES: Final = 8 << 20
AHEAD_FACTOR: Final = 4
READS_MAX: Final = 12
"""Each attempt of a request finds the next bytes that are not in memory. After so many reads by
threads, the next attempt waits for the disk. (A Fetch has a limit of its own.)"""
_SMALL_BYTES: Final = 64 << 10
_PROBE_BYTES: Final = 64 << 10
_ADVICE_BYTES: Final = 256 << 10
"""The system starts a read-ahead without yielding the processor: for 2 MiB of pages it takes 0.4
ms, for which another thread would wait."""
_SOON: Final = os.POSIX_FADV_WILLNEED
_NOWAIT: Final = os.RWF_NOWAIT
_one_byte = [bytearray(1)]
_small: Final = memoryview(bytearray(_SMALL_BYTES))


class PendingRead(Protocol):
    """`load` may be called in any thread, then `release` in the thread that uses the log. A read
    that also computes something has a `subject`: requests with the same subject share it."""

    @property
    def subject(self) -> object | None: ...

    def load(self) -> None: ...

    def release(self) -> None: ...


class NotInPageCache(Exception):
    """The call would wait for the disk. The caller must release `pending_read`."""

    def __init__(self, pending_read: PendingRead) -> None:
        super().__init__("bytes that are not in memory")
        self.pending_read = pending_read


class PendingRangeRead:
    """A range of a data file; the system reads ahead after it, for the next Fetch."""

    __slots__ = ("_range",)
    subject: object | None = None

    def __init__(self, pinned: "FileRange") -> None:
        self._range = pinned

    def load(self) -> None:
        """Read the range. Raises OSError."""
        pinned = self._range
        end = pinned.position_bytes + pinned.size_bytes
        ahead = min(max(READ_AHEAD_BYTES, AHEAD_FACTOR * pinned.size_bytes), READ_AHEAD_MAX_BYTES)
        for position in range(pinned.position_bytes, end + ahead, _ADVICE_BYTES):
            size_bytes = min(_ADVICE_BYTES, end + ahead - position)
            os.posix_fadvise(pinned.fd, position, size_bytes, _SOON)
        read_through(pinned.fd, pinned.position_bytes, end)

    def release(self) -> None:
        """Unpin the file. A second call does nothing."""
        self._range.release()


class PendingFilesRead:
    """What the first use of a log reads: files of one segment and of the whole log."""

    __slots__ = ("_base_offset", "_directory")
    subject: object | None = None

    def __init__(self, directory: str, base_offset: int) -> None:
        self._directory = directory
        self._base_offset = base_offset

    def load(self) -> None:
        """Read the files; those that do not exist are left out."""
        for name in os.listdir(self._directory):
            parsed = file_names.parse_segment_file(name)
            is_wanted = name == file_names.EPOCH_CHECKPOINT
            if parsed is not None:
                is_wanted = parsed[0] == self._base_offset or parsed[1] == file_names.SNAPSHOT
            if is_wanted:
                with suppress(OSError):
                    _read_tail(f"{self._directory}/{name}")

    def release(self) -> None:
        """Does nothing: no file is pinned."""


def require_cached_index(segment: "LogSegment") -> None:
    """Raises NotInPageCache if the offset index is not in memory."""
    if not is_file_cached(segment.path(file_names.INDEX)):
        raise NotInPageCache(PendingFilesRead(segment.directory, segment.base_offset))


def require_cached(segment: "LogSegment", position: int) -> None:
    """Raises NotInPageCache if the headers at a position are not in memory."""
    size_bytes = min(CHUNK_BYTES, segment.size_bytes - position)
    if not is_cached(segment.file.fd(), position, size_bytes):
        ahead = min(READ_AHEAD_BYTES, segment.size_bytes - position)
        raise NotInPageCache(PendingRangeRead(segment.file.pin(position, ahead)))


def is_cached(fd: int, position_bytes: int, size_bytes: int) -> bool:
    try:
        if size_bytes <= _SMALL_BYTES:
            read = os.preadv(fd, [_small[:size_bytes]], position_bytes, _NOWAIT)
            return read == size_bytes
        last = position_bytes + size_bytes - 1
        for position in range(position_bytes, last, _PROBE_BYTES):
            os.preadv(fd, _one_byte, position, _NOWAIT)
        os.preadv(fd, _one_byte, last, _NOWAIT)
    except OSError:
        return False
    return True


def is_file_cached(path: str) -> bool:
    """Whether a whole file is in the page cache; a file that does not exist counts as cached."""
    try:
        with opened(path) as fd:
            size_bytes = os.fstat(fd).st_size
            return size_bytes == 0 or is_cached(fd, 0, size_bytes)
    except OSError:
        return True


def read_through(fd: int, position_bytes: int, end_bytes: int) -> None:
    """Read a range into memory. Raises OSError. sendfile to /dev/null waits for the pages and
    copies nothing: it takes 20 µs of the processor per MiB, a read takes 140 µs."""
    with opened(os.devnull, os.O_WRONLY) as nowhere:
        while position_bytes < end_bytes:
            count = os.sendfile(nowhere, fd, position_bytes, end_bytes - position_bytes)
            if count == 0:
                return
            position_bytes += count


def _read_tail(path: str) -> None:
    with opened(path) as fd:
        size_bytes = os.fstat(fd).st_size
        read_through(fd, max(size_bytes - READ_AHEAD_BYTES, 0), size_bytes)
