"""The sparse time index of a segment: where to start looking for a timestamp.

File `<base>.timeindex`: entries of 12 bytes, big-endian: int64 timestamp in ms, int32 offset
relative to the segment's base. An entry (T, L) says: up to here the largest timestamp is T, in the
batch that ends with offset L. Timestamps rise strictly. An entry is added with every entry of the
offset index where the largest timestamp has risen, and a last one when the segment is closed, so
that the last entry of a closed segment is its largest timestamp.

Memory and file relate as in the offset index.
"""

import os
import struct
from array import array
from bisect import bisect_left, bisect_right
from contextlib import suppress
from typing import Final

from brokerd.log.files import read_whole
from brokerd.log.offset_index import PENDING_MAX, CorruptIndexError, overwrite, truncate, write_at

ENTRY_BYTES: Final = 12
NO_TIMESTAMP: Final = -1

_ENTRY = struct.Struct(">qi")


class TimeIndex:
    """Timestamps and relative offsets, backed by a file."""

    __slots__ = ("_base_offset", "_offsets", "_path", "_timestamps", "_written")

    def __init__(self, path: str, base_offset: int) -> None:
        self._path = path
        self._base_offset = base_offset
        self._timestamps = array("q")
        self._offsets = array("i")
        self._written = 0

    def __len__(self) -> int:
        return len(self._timestamps)

    @classmethod
    def load(cls, path: str, base_offset: int) -> "TimeIndex":
        """Read a file. Raises CorruptIndexError, also where it is missing."""
        index = cls(path, base_offset)
        try:
            for timestamp_ms, offset in _ENTRY.iter_unpack(read_whole(path)):
                index._timestamps.append(timestamp_ms)
                index._offsets.append(offset)
        except (OSError, struct.error) as error:
            raise CorruptIndexError(f"{path}: {error}") from error
        index._written = len(index._timestamps)
        if index._timestamps:
            index._check()
        return index

    def _check(self) -> None:
        if self._timestamps[0] < 0 or min(self._offsets[0], self._offsets[-1]) < 0:
            raise CorruptIndexError(f"{self._path}: an entry is negative")
        if self._timestamps[-1] < self._timestamps[0] or self._offsets[-1] < self._offsets[0]:
            raise CorruptIndexError(f"{self._path}: entries do not rise")

    @property
    def last(self) -> tuple[int, int]:
        """(timestamp, offset) of the last entry; (-1, base offset) when there is none."""
        if not self._timestamps:
            return NO_TIMESTAMP, self._base_offset
        return self._timestamps[-1], self._base_offset + self._offsets[-1]

    def append(self, timestamp_ms: int, last_offset: int) -> None:
        """Note a largest timestamp; one that has not risen is passed over."""
        if timestamp_ms <= self.last[0]:
            return
        self._offsets.append(last_offset - self._base_offset)  # first: it may not fit
        self._timestamps.append(timestamp_ms)
        if len(self._timestamps) - self._written >= PENDING_MAX:
            with suppress(OSError):  # they stay pending; the next roll or flush reports it
                self.flush()

    def floor(self, timestamp_ms: int) -> tuple[int, int]:
        """The last entry at or below `timestamp_ms`; (-1, base offset) when there is none."""
        found = bisect_right(self._timestamps, timestamp_ms)
        if not found:
            return NO_TIMESTAMP, self._base_offset
        return self._timestamps[found - 1], self._base_offset + self._offsets[found - 1]

    def entries(self, start: int, limit: int) -> list[tuple[int, int]]:
        """(timestamp, offset) of at most `limit` entries from number `start` on."""
        base = self._base_offset
        timestamps = self._timestamps[start : start + limit]
        offsets = self._offsets[start : start + limit]
        pairs = zip(timestamps, offsets, strict=True)
        return [(timestamp, base + offset) for timestamp, offset in pairs]

    def truncate_to(self, offset: int) -> None:
        """Forget the batches that end at or after `offset`."""
        kept = bisect_left(self._offsets, offset - self._base_offset)
        del self._timestamps[kept:]
        del self._offsets[kept:]
        self._written = min(self._written, kept)
        truncate(self._path, self._written * ENTRY_BYTES)

    def clear(self) -> None:
        self.truncate_to(self._base_offset)

    def flush(self) -> None:
        """Write what is pending. Raises OSError."""
        if self._written < len(self._timestamps):
            write_at(self._path, self._encoded(self._written), self._written * ENTRY_BYTES)
            self._written = len(self._timestamps)

    def _encoded(self, start: int) -> bytes:
        entries = zip(self._timestamps[start:], self._offsets[start:], strict=True)
        return b"".join(_ENTRY.pack(timestamp, offset) for timestamp, offset in entries)

    def replace_file(self) -> None:
        """Have the file hold just these entries, whatever it held. Raises OSError."""
        overwrite(self._path, self._encoded(0))
        self._written = len(self._timestamps)


def last_entry(path: str, base_offset: int) -> tuple[int, int]:
    """(timestamp, offset) of a file's last entry, read alone; (-1, base offset) without one."""
    try:
        with open(path, "rb") as file:
            file.seek(-ENTRY_BYTES, os.SEEK_END)
            timestamp_ms, offset = _ENTRY.unpack(file.read(ENTRY_BYTES))
    except (OSError, struct.error):
        return NO_TIMESTAMP, base_offset
    return timestamp_ms, base_offset + offset
