"""The index files of a segment. Pure.

    <base offset>.index      entries of 8 bytes: relative offset i32, position i32
    <base offset>.timeindex  entries of 12 bytes: timestamp i64, relative offset i32

All are big-endian and rise. Kafka's brokers allocate 10 MiB for the files of the active segment and
cut them when it is closed, so that zeros follow the last entry.
"""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import pairwise
from struct import Struct
from typing import Literal

from monitoring.error_reason import Reason
from monitoring.gateway.log_directory.damaged_file import DamagedFile, ReadAt

Entry = tuple[int, int]
Kind = Literal["offset", "time"]

SUFFIXES: dict[Kind, str] = {"offset": ".index", "time": ".timeindex"}
_ENTRIES: dict[Kind, Struct] = {"offset": Struct(">ii"), "time": Struct(">qi")}


@dataclass(frozen=True, slots=True)
class IndexFile:
    """The entries of an index file, in the order of the file: (offset, position in the log file) or
    (timestamp, offset). They are read when they are needed."""

    kind: Kind
    base_offset: int
    count: int
    _read: ReadAt

    @classmethod
    def of(cls, kind: Kind, base_offset: int, read: ReadAt, size_bytes: int) -> "IndexFile":
        """Raises DamagedFile, also for the first and the last entry; OSError."""
        slots, odd_bytes = divmod(size_bytes, _ENTRIES[kind].size)
        if odd_bytes:
            raise DamagedFile(Reason("index_cut"))
        index = cls(kind, base_offset, slots, read)
        index = cls(kind, base_offset, index._used(), read)
        if index.count:
            _check([index.entry(0), index.entry(index.count - 1)][: index.count], index)
        return index

    def entry(self, number: int) -> Entry:
        """Raises DamagedFile if the file has become shorter; OSError."""
        [found] = self._raw(number, number + 1)
        return self._absolute(found)

    def entries(self, start: int, limit: int) -> list[Entry]:
        """At most `limit` entries from number `start` on. Raises DamagedFile, OSError."""
        found = [self._absolute(raw) for raw in self._raw(start, min(start + limit, self.count))]
        _check(found, self)
        return found

    def floor(self, key: int) -> int:
        """The number of the last entry whose offset or timestamp is at most `key`; -1 = none."""
        return bisect_right(range(self.count), key, key=lambda number: self.entry(number)[0]) - 1

    def _used(self) -> int:
        """How many entries were written, of `count`."""
        if not self.count or any(self._raw(self.count - 1, self.count)[0]):
            return self.count
        if self.count == 1 and self.kind == "time":  # not allocated: a record of the time 0
            return 1
        return bisect_left(
            range(self.count), True, key=lambda number: not any(self._raw(number, number + 1)[0])
        )

    def _absolute(self, raw: Entry) -> Entry:
        base, (first, second) = self.base_offset, raw
        return (base + first, second) if self.kind == "offset" else (first, base + second)

    def _raw(self, start: int, end: int) -> list[Entry]:
        if start >= end:
            return []
        struct = _ENTRIES[self.kind]
        data = self._read(start * struct.size, (end - start) * struct.size)
        if len(data) < (end - start) * struct.size:
            raise DamagedFile(Reason("index_shorter"))
        return list(struct.iter_unpack(data))


def _check(entries: list[Entry], index: IndexFile) -> None:
    offset, value = (0, 1) if index.kind == "offset" else (1, 0)
    if any(each[offset] < index.base_offset or each[value] < 0 for each in entries):
        raise DamagedFile(Reason("index_negative"))
    if any(after[0] < before[0] or after[1] < before[1] for before, after in pairwise(entries)):
        raise DamagedFile(Reason("index_order"))
