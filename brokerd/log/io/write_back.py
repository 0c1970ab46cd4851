"""Having appended data written to disk in time, so that it does not pile up in memory.

The system begins when a tenth of the memory is dirty, and lets writers wait when it cannot keep up.
Here it is made to begin at half of that; not earlier, since it takes an eighth of the CPU time.
"""

import ctypes
from typing import TYPE_CHECKING, Final

from brokerd.log.io.disk_jobs import DiskJob

if TYPE_CHECKING:
    from brokerd.log.segments.log_segment import LogSegment

DIRTY_SHARE: Final = 0.05
"""Of the memory that could be had, half of the system's vm.dirty_background_ratio."""
_SYNC_FILE_RANGE_WRITE: Final = 2
_MEMORY: Final = ("Dirty", "Writeback", "MemAvailable")
_libc = ctypes.CDLL(None)
_libc.sync_file_range.argtypes = (ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint)


class WriteBackJob(DiskJob):
    """Begins to write what was appended, if it is time; errors do not matter."""

    def __init__(self, segment: "LogSegment") -> None:
        start = segment.write_back_from
        self._segment = segment
        self._end = segment.size_bytes
        self._range = segment.file.pin(start, self._end - start)
        self._is_begun = False

    def work(self) -> None:
        if dirty_share() > DIRTY_SHARE:
            pinned = self._range
            begin_write_back(pinned.fd, pinned.position_bytes, pinned.size_bytes)
            self._is_begun = True

    def finish(self) -> None:
        self._range.release()
        if self._is_begun:
            segment = self._segment
            segment.write_back_from = min(max(segment.write_back_from, self._end),
                                          segment.size_bytes)  # fmt: skip


def begin_write_back(fd: int, position_bytes: int, size_bytes: int) -> None:
    """Have the system write these pages to disk soon, without waiting for it (sync_file_range)."""
    _libc.sync_file_range(fd, position_bytes, size_bytes, _SYNC_FILE_RANGE_WRITE)


def dirty_share() -> float:
    """What waits for the disk, as a share of the memory that could be had; 0 if unknown."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            fields = dict(line.split(":") for line in file)
        sizes = {name: int(fields[name].split()[0]) for name in _MEMORY}
    except (OSError, ValueError, KeyError):
        return 0.0
    return (sizes["Dirty"] + sizes["Writeback"]) / max(sizes["MemAvailable"], 1)
