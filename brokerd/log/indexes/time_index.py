"""The sparse time index of a segment: where to start looking for a timestamp.

File `<base>.timeindex`: entries of 12 bytes, big-endian: int64 timestamp in ms, int32 offset
relative to the segment's base. An entry (T, L) says: up to here the largest timestamp is T, in the
batch that ends with offset L. An entry is added with every entry of the offset index where the
largest timestamp has risen, and a last one when the segment is closed.

Only entries that the file does not have yet are in memory, and the last one; the others are looked
up in the file, so that to open one costs the same whatever its size.
"""

import os
import struct
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

from brokerd.log.indexes.offset_index import PENDING_MAX, CorruptIndexError, overwrite, write_at
from brokerd.log.io.files import opened
from brokerd.protocol.records import NO_TIMESTAMP

ENTRY_BYTES: Final = 12

_ENTRY = struct.Struct(">qi")

Entry = tuple[int, int]


class TimeIndex:
    """Methods that read the file raise OSError, and CorruptIndexError if it has become shorter."""

    __slots__ = ("_base_offset", "_last_ms", "_last_offset", "_offsets", "_path", "_pending_max",
                 "_timestamps", "_written")  # fmt: skip

    def __init__(self, path: str, base_offset: int, pending_max: int = PENDING_MAX) -> None:
        self._path = path
        self._pending_max = pending_max
        self._base_offset = base_offset
        self._timestamps = array("q")  # of the entries behind those written
        self._offsets = array("i")
        self._written = 0
        self._last_ms, self._last_offset = NO_TIMESTAMP, 0

    def __len__(self) -> int:
        return self._written + len(self._timestamps)

    @classmethod
    def load(cls, path: str, base_offset: int) -> "TimeIndex":
        """Opens a file and reads its ends. Raises CorruptIndexError, also where it is missing."""
        index = cls(path, base_offset)
        try:
            index._written, odd_bytes = divmod(os.stat(path).st_size, ENTRY_BYTES)
            if odd_bytes:
                raise CorruptIndexError(f"{path}: half an entry at the end")
            if index._written:
                with index._reading() as entry:
                    index._take_ends(entry(0), entry(index._written - 1))
        except OSError as error:
            raise CorruptIndexError(f"{path}: {error}") from error
        return index

    def _take_ends(self, first: Entry, last: Entry) -> None:
        if first[0] < 0 or min(first[1], last[1]) < 0:
            raise CorruptIndexError(f"{self._path}: an entry is negative")
        if last < first or last[1] < first[1]:
            raise CorruptIndexError(f"{self._path}: entries do not rise")
        self._last_ms, self._last_offset = last

    @contextmanager
    def _reading(self) -> Iterator[Callable[[int], Entry]]:
        """What gives the entries of the file by number."""
        with opened(self._path) as fd:
            yield lambda number: self._read(fd, number, number + 1)[0]

    def _read(self, fd: int, start: int, end: int) -> list[Entry]:
        """The entries of the file from one number up to another, by one read."""
        data = os.pread(fd, (end - start) * ENTRY_BYTES, start * ENTRY_BYTES)
        if len(data) < (end - start) * ENTRY_BYTES:
            raise CorruptIndexError(f"{self._path}: it has become shorter")
        return list(_ENTRY.iter_unpack(data))

    @property
    def last(self) -> Entry:
        """(timestamp, offset) of the last entry; (-1, base offset) when there is none."""
        return self._last_ms, self._base_offset + self._last_offset

    def append(self, timestamp_ms: int, last_offset: int) -> None:
        """Adds an entry if the largest timestamp has risen. Many at a time reach the file."""
        if timestamp_ms <= self._last_ms:
            return
        offset = last_offset - self._base_offset
        self._offsets.append(offset)  # first: it may not fit
        self._timestamps.append(timestamp_ms)
        self._last_ms, self._last_offset = timestamp_ms, offset
        if len(self._timestamps) >= self._pending_max:
            with suppress(OSError):  # they stay pending; the next roll or flush reports it
                self.flush()

    def floor(self, timestamp_ms: int) -> Entry:
        """The last entry at or below `timestamp_ms`; (-1, base offset) when there is none."""
        found = bisect_right(self._timestamps, timestamp_ms)
        if found:
            return self._timestamps[found - 1], self._base_offset + self._offsets[found - 1]
        if not self._written:
            return NO_TIMESTAMP, self._base_offset
        with self._reading() as entry:
            found = bisect_right(range(self._written), timestamp_ms, key=lambda at: entry(at)[0])
            known_ms, offset = entry(found - 1) if found else (NO_TIMESTAMP, 0)
        return known_ms, self._base_offset + offset

    def entries(self, start: int, limit: int) -> list[Entry]:
        """(timestamp, offset) of at most `limit` entries from number `start` on."""
        base = self._base_offset
        end = min(start + limit, len(self))
        found: list[Entry] = []
        if start < min(end, self._written):
            with opened(self._path) as fd:
                found = self._read(fd, start, min(end, self._written))
        behind = slice(max(start - self._written, 0), max(end - self._written, 0))
        found += zip(self._timestamps[behind], self._offsets[behind], strict=True)
        return [(timestamp, base + offset) for timestamp, offset in found]

    def truncate_to(self, offset: int) -> None:
        """Forget the batches that end at or after `offset`."""
        relative = offset - self._base_offset
        kept = bisect_left(self._offsets, relative)
        del self._timestamps[kept:]
        del self._offsets[kept:]
        if not kept and self._written:
            with self._reading() as entry:
                self._written = bisect_left(
                    range(self._written), relative, key=lambda at: entry(at)[1]
                )
        last = self.entries(len(self) - 1, 1) if len(self) else [(NO_TIMESTAMP, self._base_offset)]
        self._last_ms, self._last_offset = last[0][0], last[0][1] - self._base_offset
        os.truncate(self._path, self._written * ENTRY_BYTES)

    def flush(self) -> None:
        """Write what is pending. Raises OSError."""
        if self._timestamps:
            write_at(self._path, self._encoded(), self._written * ENTRY_BYTES)
            self._written += len(self._timestamps)
            del self._timestamps[:]
            del self._offsets[:]

    def _encoded(self) -> bytes:
        entries = zip(self._timestamps, self._offsets, strict=True)
        return b"".join(_ENTRY.pack(timestamp, offset) for timestamp, offset in entries)

    def replace_file(self) -> None:
        """Has the file hold just these entries, and soon those that follow. Raises OSError."""
        self._pending_max = PENDING_MAX
        overwrite(self._path, self._encoded())
        self._written = len(self._timestamps)
        del self._timestamps[:]
        del self._offsets[:]
