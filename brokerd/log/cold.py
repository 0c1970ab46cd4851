"""What must be read from the disk before it can be served: found out without waiting for the disk.

A read of pages that are not in memory takes milliseconds, and so does sendfile; on an event loop
everybody would wait for them. A look-up that is asked not to wait raises ColdError instead. Its
`spot` brings the bytes into memory in any thread; then the same look-up is done again.

Whether bytes are in memory is asked of the system (preadv with RWF_NOWAIT). Such a look has a page
read that is not there, so the next look finds it: a small range, of which a look-up will read all,
is asked for as a whole, a larger one at every so many bytes, since what is being read ahead arrives
piece by piece and in any order. Where the system cannot say, they count as cold.
"""

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Protocol

from brokerd.log import names
from brokerd.log.scan import CHUNK_BYTES

if TYPE_CHECKING:
    from brokerd.log.indexed_data import IndexedData
    from brokerd.log.open_files import FileRange

READ_AHEAD_BYTES: Final = 1 << 20
READ_AHEAD_MAX_BYTES: Final = 8 << 20
AHEAD_FACTOR: Final = 4
READS_MAX: Final = 12
"""What a look-up lacks is found piece by piece: so often a thread reads, then the look-up waits for
the disk."""
_SMALL_BYTES: Final = 64 << 10
_PROBE_BYTES: Final = 64 << 10
_ADVICE_BYTES: Final = 256 << 10
"""The system reads ahead what it is asked for at once without giving up the processor: 2 MiB of
pages take it 0.4 ms, for which another thread would wait."""
_SOON: Final = os.POSIX_FADV_WILLNEED
_NOWAIT: Final = getattr(os, "RWF_NOWAIT", 0)
_one_byte = [bytearray(1)]
_small: Final = memoryview(bytearray(_SMALL_BYTES))


class Spot(Protocol):
    """Where the bytes lie. `warm` may be called in any thread, then `release` where logs are used.

    Where it does more than read it has a `subject`: one at a time is warmed for whoever waits.
    """

    @property
    def subject(self) -> object | None: ...

    def warm(self) -> None: ...

    def release(self) -> None: ...


class ColdError(Exception):
    """The answer would have to wait for the disk. The spot must be released."""

    def __init__(self, spot: Spot) -> None:
        super().__init__("bytes that are not in memory")
        self.spot = spot


class RangeSpot:
    """A range of a data file; what follows it is asked for, too, for who reads on."""

    __slots__ = ("_range",)
    subject: object | None = None

    def __init__(self, pinned: "FileRange") -> None:
        self._range = pinned

    def warm(self) -> None:
        """Read the range. Raises OSError."""
        pinned = self._range
        end = pinned.position_bytes + pinned.size_bytes
        ahead = min(max(READ_AHEAD_BYTES, AHEAD_FACTOR * pinned.size_bytes), READ_AHEAD_MAX_BYTES)
        for position in range(pinned.position_bytes, end + ahead, _ADVICE_BYTES):
            size_bytes = min(_ADVICE_BYTES, end + ahead - position)
            os.posix_fadvise(pinned.fd, position, size_bytes, _SOON)
        read_through(pinned.fd, pinned.position_bytes, end)

    def release(self) -> None:
        """Let go of the file. A second call does nothing."""
        self._range.release()


class FilesSpot:
    """The files of one segment but its data, of which the tail alone is read, and those of the log
    as a whole: what the first use of an index, or of the log, reads."""

    __slots__ = ("_base_offset", "_directory")
    subject: object | None = None

    def __init__(self, directory: str, base_offset: int) -> None:
        self._directory = directory
        self._base_offset = base_offset

    def warm(self) -> None:
        """A file that is not there (any more) is passed over."""
        for name in os.listdir(self._directory):
            parsed = names.parse_segment_file(name)
            is_wanted = name == names.EPOCH_CHECKPOINT
            if parsed is not None:
                is_wanted = parsed[0] == self._base_offset or parsed[1] == names.SNAPSHOT
            if is_wanted:
                with suppress(OSError):
                    _read_tail(f"{self._directory}/{name}")

    def release(self) -> None:
        """Nothing is held."""


def require_cached_index(segment: "IndexedData") -> None:
    """Raises ColdError where the offset index is not in memory."""
    if not is_file_cached(segment.path(names.INDEX)):
        raise ColdError(FilesSpot(segment.directory, segment.base_offset))


def require_cached(segment: "IndexedData", position: int) -> None:
    """Raises ColdError where the headers at a position are not in memory."""
    size_bytes = min(CHUNK_BYTES, segment.size_bytes - position)
    if not is_cached(segment.file.fd(), position, size_bytes):
        ahead = min(READ_AHEAD_BYTES, segment.size_bytes - position)
        raise ColdError(RangeSpot(segment.file.pin(position, ahead)))


def is_cached(fd: int, position_bytes: int, size_bytes: int) -> bool:
    """Whether a range can probably be read without waiting for the disk."""
    if not _NOWAIT:
        return False
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
    """The same of a whole file; one that is not there need not be waited for."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return True
    try:
        size_bytes = os.fstat(fd).st_size
        return size_bytes == 0 or is_cached(fd, 0, size_bytes)
    finally:
        os.close(fd)


def read_through(fd: int, position_bytes: int, end_bytes: int) -> None:
    """Have a range read: afterwards it is in memory. Raises OSError.

    It is sent to nowhere, which waits for the pages and copies nothing: 20 us a MiB instead of 140,
    of a processor that the event loop could use.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    try:
        while position_bytes < end_bytes:
            count = os.sendfile(nowhere, fd, position_bytes, end_bytes - position_bytes)
            if count == 0:
                return
            position_bytes += count
    finally:
        os.close(nowhere)


def _read_tail(path: str) -> None:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        size_bytes = os.fstat(fd).st_size
        read_through(fd, max(size_bytes - READ_AHEAD_BYTES, 0), size_bytes)
    finally:
        os.close(fd)
