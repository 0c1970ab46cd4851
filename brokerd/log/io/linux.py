"""What of Linux Python does not have."""

import ctypes
import os
from typing import Final

from brokerd.log.io.files import opened

_SYNC_FILE_RANGE_WRITE: Final = 2
_MEMORY: Final = ("Dirty", "Writeback", "MemAvailable")


_libc = ctypes.CDLL(None, use_errno=True)
_libc.sync_file_range.argtypes = (ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint)
_libc.syncfs.argtypes = (ctypes.c_int,)


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


def sync_filesystem(path: str) -> None:
    """Makes everything on the file system of `path` durable (syncfs). Raises OSError, also for what
    failed to be written since the last time."""
    with opened(path, os.O_RDONLY | os.O_DIRECTORY) as fd:
        if _libc.syncfs(fd) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), path)
