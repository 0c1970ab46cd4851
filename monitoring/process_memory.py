"""Releases memory to the operating system after the data of a large cluster was dropped.

Allocators keep freed memory, and Arrow's allocator keeps some per thread: after a large cluster
that was most of a process's memory. So Arrow uses the C library's allocator here, which maps large
blocks separately and unmaps them when they are freed; `release` releases the smaller ones.
"""

import ctypes
import gc

import pyarrow as pa

_M_MMAP_THRESHOLD = -3
# With this threshold, reading an hour of history takes 0.9 CPU-seconds; with 128 KiB it takes 2.1.
_MMAP_BYTES = 4 * 1024 * 1024
_LARGE_ROWS = 20_000  # from this number on, releasing memory is worth its time


def prepare() -> None:
    """Call it once, at the start of a process that reads samples."""
    pa.set_memory_pool(pa.system_memory_pool())
    # glibc raises the threshold whenever a large block is freed, unless it is set.
    _libc("mallopt", _M_MMAP_THRESHOLD, _MMAP_BYTES)


def release() -> None:
    """Release freed memory. Takes tens of milliseconds, so call it only after large data was
    freed."""
    gc.collect()
    trim()


def trim() -> None:
    """Release freed memory without a garbage collection. It is faster than `release`, and enough
    after a large read."""
    pa.default_memory_pool().release_unused()
    _libc("malloc_trim", 0)


class ReleaseWhenSmaller:
    """Releases memory when the number of rows falls below half of its maximum."""

    def __init__(self) -> None:
        self._rows_max = 0

    def set_row_count(self, rows: int) -> None:
        """Set the current number of rows."""
        if 2 * rows < self._rows_max and self._rows_max >= _LARGE_ROWS:
            self._rows_max = 0
            release()
        self._rows_max = max(self._rows_max, rows)


def _libc(name: str, *arguments: int) -> None:
    """Call a function of glibc; does nothing with other C libraries."""
    try:
        getattr(ctypes.CDLL(None), name)(*arguments)
    except (OSError, AttributeError):
        pass
