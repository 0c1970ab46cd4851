"""What of Linux Python does not have: where it is missing, nothing is done.

All of it only makes the same thing faster or smoother; nothing relies on them.
"""

import ctypes
import os
from collections.abc import Callable
from typing import Any, Final

_SYNC_FILE_RANGE_WRITE: Final = 2
_MEMORY: Final = ("Dirty", "Writeback", "MemAvailable")


def _function(name: str, *arguments: Any) -> Callable[..., int] | None:
    try:
        found = getattr(ctypes.CDLL(None, use_errno=True), name)
    except (AttributeError, OSError):
        return None
    found.argtypes = arguments
    found.restype = ctypes.c_int
    call: Callable[..., int] = found
    return call


_sync_file_range = _function(
    "sync_file_range", ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint
)
_syncfs = _function("syncfs", ctypes.c_int)


def begin_write_back(fd: int, position_bytes: int, size_bytes: int) -> None:
    """Have the system write these pages to disk soon, without waiting for it (sync_file_range)."""
    if _sync_file_range is not None:
        _sync_file_range(fd, position_bytes, size_bytes, _SYNC_FILE_RANGE_WRITE)


def dirty_share() -> float:
    """What waits for the disk, as a share of the memory that could be had; 0 if unknown."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            fields = dict(line.split(":") for line in file)
        sizes = {name: int(fields[name].split()[0]) for name in _MEMORY}
    except (OSError, ValueError, KeyError):
        return 0.0
    return (sizes["Dirty"] + sizes["Writeback"]) / max(sizes["MemAvailable"], 1)


def sync_filesystem(path: str) -> bool:
    """Make everything on the file system of `path` durable; whether that could be done (syncfs).

    Raises OSError, also for what failed to be written since the last time.
    """
    if _syncfs is None:
        return False
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if _syncfs(fd) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), path)
    finally:
        os.close(fd)
    return True
