"""The sparse offset index of a segment: where to start looking for an offset.

File `<base>.index`: entries of 8 bytes, big-endian: int32 offset relative to the segment's base,
int32 position in the data file. An entry (L, P) says: the batch that starts at byte P ends with
offset L. The first batch is never indexed: a look-up that finds no entry starts at 0.

In memory it is two parallel arrays. New entries reach the file in bulk (at a roll, flush or close,
or every `PENDING_MAX`), which is safe because recovery rebuilds the index of every segment that was
not flushed. The file is never preallocated.
"""

import errno
import os
from array import array
from bisect import bisect_left, bisect_right
from contextlib import suppress
from typing import Final

from brokerd.log.io.files import opened, read_whole

ENTRY_BYTES: Final = 8
PENDING_MAX: Final = 1024
IN_MEMORY: Final = 1 << 62
"""As `pending_max`: no entry reaches the file by itself."""


class CorruptIndexError(Exception):
    """A damaged index file; its segment's data can rebuild it."""


class OffsetIndex:
    __slots__ = ("_base_offset", "_offsets", "_path", "_pending_max", "_positions", "_written")

    def __init__(self, path: str, base_offset: int, pending_max: int = PENDING_MAX) -> None:
        """As many entries as `pending_max` reach the file at once; before, they are in memory."""
        self._path = path
        self._pending_max = pending_max
        self._base_offset = base_offset
        self._offsets = array("i")
        self._positions = array("i")
        self._written = 0

    def __len__(self) -> int:
        return len(self._offsets)

    @classmethod
    def load(cls, path: str, base_offset: int, size_bytes: int) -> "OffsetIndex":
        """Reads the file of a segment. Raises CorruptIndexError, also where it is missing."""
        index = cls(path, base_offset)
        entries = array("i")
        try:
            entries.frombytes(read_whole(path))
        except (OSError, ValueError) as error:
            raise CorruptIndexError(f"{path}: {error}") from error
        if len(entries) % 2:
            raise CorruptIndexError(f"{path}: half an entry at the end")
        entries.byteswap()
        index._offsets, index._positions = entries[0::2], entries[1::2]
        index._written = len(index._offsets)
        index._check(size_bytes)
        return index

    def _check(self, size_bytes: int) -> None:
        if not self._offsets:
            return
        if self._offsets[0] < 0 or not 0 <= self._positions[0] <= self._positions[-1] < size_bytes:
            raise CorruptIndexError(f"{self._path}: an entry points outside the segment")
        if self._offsets[-1] < self._offsets[0]:
            raise CorruptIndexError(f"{self._path}: offsets do not rise")

    @property
    def last_position(self) -> int:
        """Start of the last batch indexed; 0 when there is none."""
        return self._positions[-1] if self._positions else 0

    @property
    def memory_bytes(self) -> int:
        return ENTRY_BYTES * len(self._offsets)

    def append(self, last_offset: int, position_bytes: int) -> None:
        self._offsets.append(last_offset - self._base_offset)
        self._positions.append(position_bytes)
        if len(self._offsets) - self._written >= self._pending_max:
            with suppress(OSError):  # they stay pending; the next roll or flush reports it
                self.flush()

    def floor(self, offset: int) -> int:
        """The greatest known position at or before the batch that holds `offset`."""
        found = bisect_right(self._offsets, offset - self._base_offset)
        return self._positions[found - 1] if found else 0

    def position_above(self, offset: int) -> int:
        """Where the first batch with an entry begins that ends after an offset; 0: there is
        none."""
        found = bisect_right(self._offsets, offset - self._base_offset)
        return self._positions[found] if found < len(self._positions) else 0

    def boundary_at_most(self, position_bytes: int) -> int:
        """The greatest known start of a batch at or before a position; 0 when none is known."""
        found = bisect_right(self._positions, position_bytes)
        return self._positions[found - 1] if found else 0

    def offset_behind(self, position_bytes: int) -> int | None:
        """The last offset of the first known batch at or behind a position; None without one."""
        found = bisect_left(self._positions, position_bytes)
        return self._base_offset + self._offsets[found] if found < len(self._offsets) else None

    def entries(self, start: int, limit: int) -> list[tuple[int, int]]:
        """(offset, position) of at most `limit` entries from number `start` on."""
        base = self._base_offset
        offsets = self._offsets[start : start + limit]
        positions = self._positions[start : start + limit]
        pairs = zip(offsets, positions, strict=True)
        return [(base + offset, position) for offset, position in pairs]

    def truncate_to(self, offset: int) -> None:
        """Forget the batches that end at or after `offset`."""
        kept = bisect_left(self._offsets, offset - self._base_offset)
        del self._offsets[kept:]
        del self._positions[kept:]
        self._written = min(self._written, kept)
        os.truncate(self._path, self._written * ENTRY_BYTES)

    def flush(self) -> None:
        """Write what is pending. Raises OSError."""
        if self._written == len(self._offsets):
            return
        write_at(self._path, self._encoded(self._written), self._written * ENTRY_BYTES)
        self._written = len(self._offsets)

    def _encoded(self, start: int) -> bytes:
        entries = array("i", bytes(ENTRY_BYTES * (len(self._offsets) - start)))
        entries[0::2] = self._offsets[start:]
        entries[1::2] = self._positions[start:]
        entries.byteswap()
        return entries.tobytes()

    def replace_file(self) -> None:
        """Has the file hold just these entries, and soon those that follow. Raises OSError."""
        self._pending_max = PENDING_MAX
        overwrite(self._path, self._encoded(0))
        self._written = len(self._offsets)


def overwrite(path: str, data: bytes) -> None:
    """Have a file hold just `data`, by as few changes as it takes. Raises OSError. Making a file
    empty that is not costs milliseconds, and recovery does this for every index."""
    try:
        held = read_whole(path)
    except FileNotFoundError:
        held = None
    if held != data:
        write_at(path, data, 0)
    if held is not None and len(held) > len(data):
        os.truncate(path, len(data))


def write_at(path: str, data: bytes, position_bytes: int) -> None:
    """Write all of `data` into a file, made if it is missing. Raises OSError."""
    with opened(path, os.O_WRONLY | os.O_CREAT) as fd:
        written = os.pwrite(fd, data, position_bytes)
        if written != len(data):
            message = f"only {written} of {len(data)} bytes could be written"
            raise OSError(errno.ENOSPC, message, path)
