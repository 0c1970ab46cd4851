"""A bounded set of open segment files, and pinned ranges of them on their way to a socket.

A broker with 40,000 partitions cannot hold every segment open. A file is opened at first use; when
more than `limit` are open, those not used since the last round are closed (second chance). With a
file goes what look-ups in its segment keep in memory (2 MiB of index for a gigabyte of small
batches): where that comes to more than `held_max_bytes` in all, files are closed for it, too.

A FileRange pins its file: while one is queued for sending, the descriptor stays open whatever
happens to the segment (closed for room, renamed, unlinked). The last release closes it. Only when
the log is cut below its end it must not be sent: other records may lie there by then. Such a range
says so (`is_cut`).

The system must not read ahead by itself: it does so in whoever touches a page that is not in
memory, here the event loop, and up to 8 MiB at once. Who reads in order asks for what comes next
(`page_cache`, `scan_batches`).
"""

import os
from collections.abc import Callable
from typing import Final

OPEN_FILES_MAX: Final = 4096
HELD_BYTES_MAX: Final = 256 << 20
_NOWHERE: Final = 1 << 63


def _nothing() -> None:
    pass


class LogFile:
    __slots__ = (
        "_closing", "_fd", "_files", "_on_close", "cut_at", "held_bytes", "path", "pins", "used",
    )  # fmt: skip

    def __init__(self, files: "OpenFiles", path: str, on_close: Callable[[], None]) -> None:
        self._files = files
        self._fd = -1
        self._closing = False
        self._on_close = on_close
        self.path = path
        self.pins = 0
        self.cut_at = _NOWHERE
        self.held_bytes = 0
        self.used = False

    def fd(self) -> int:
        """The descriptor, opened if need be. Raises OSError."""
        self.used = True
        if self._fd >= 0:
            return self._fd
        self._fd = os.open(self.path, os.O_RDWR | os.O_CLOEXEC)
        os.posix_fadvise(self._fd, 0, 0, os.POSIX_FADV_RANDOM)
        self._closing = False
        self._files.add(self)
        return self._fd

    def pin(self, position_bytes: int, size_bytes: int) -> "FileRange":
        fd = self.fd()
        if self.pins == 0:
            self.cut_at = _NOWHERE
        self.pins += 1
        return FileRange(fd, position_bytes, size_bytes, self)

    def hold(self, size_bytes: int) -> None:
        """Note how much memory is held for the file until it is closed; others may be closed."""
        if self._fd >= 0:
            self._files.hold(self, size_bytes)

    def cut(self, position_bytes: int) -> None:
        """Note that what is behind a position goes, for the ranges on their way."""
        self.cut_at = min(self.cut_at, position_bytes)

    def unpin(self) -> None:
        self.pins -= 1
        if self._closing and self.pins == 0:
            self.close()

    def abandon(self) -> None:
        """As `close`, for an owner that goes, too: it is not notified any more, nor referred to."""
        self._on_close = _nothing
        self.close()

    def close(self) -> None:
        """Close the descriptor, now or when the last pin is gone."""
        if self._fd < 0:
            return
        self._closing = True
        if self.pins:
            return
        os.close(self._fd)
        self._fd = -1
        self._files.remove(self)
        self._on_close()


class FileRange:
    """`size_bytes` at `position_bytes` of the descriptor `fd`, kept open until `release()`."""

    __slots__ = ("_file", "fd", "position_bytes", "size_bytes")

    def __init__(self, fd: int, position_bytes: int, size_bytes: int, file: LogFile) -> None:
        self.fd = fd
        self.position_bytes = position_bytes
        self.size_bytes = size_bytes
        self._file: LogFile | None = file

    def release(self) -> None:
        """Give the descriptor back. A second call does nothing."""
        file, self._file = self._file, None
        if file is not None:
            file.unpin()

    @property
    def path(self) -> str:
        """Of which file it is, by the name that the segment had."""
        return self._file.path if self._file is not None else ""

    def is_of(self, file: LogFile) -> bool:
        return self._file is file

    @property
    def is_cut(self) -> bool:
        """Whether the log was cut below its end since the file was pinned, so that it is void."""
        file = self._file
        return file is not None and self.position_bytes + self.size_bytes > file.cut_at

    def read(self) -> bytes:
        return os.pread(self.fd, self.size_bytes, self.position_bytes)


class OpenFiles:
    """The files open now, at most about `limit` (pinned ones are never closed)."""

    def __init__(self, limit: int = OPEN_FILES_MAX, held_max_bytes: int = HELD_BYTES_MAX) -> None:
        self._limit = limit
        self._held_max_bytes = held_max_bytes
        self.held_bytes = 0
        self._open: dict[LogFile, None] = {}

    def __len__(self) -> int:
        return len(self._open)

    def add(self, file: LogFile) -> None:
        if len(self._open) >= self._limit:
            self._make_room()
        self._open[file] = None

    def remove(self, file: LogFile) -> None:
        self._open.pop(file, None)
        self.held_bytes -= file.held_bytes
        file.held_bytes = 0

    def hold(self, file: LogFile, size_bytes: int) -> None:
        self.held_bytes += size_bytes - file.held_bytes
        file.held_bytes = size_bytes
        if self.held_bytes > self._held_max_bytes:
            self._hold_less(file)

    def _hold_less(self, wanted: LogFile) -> None:
        """Close files for which memory is held: unused ones first, then the longest open."""
        held = [each for each in self._open if each.held_bytes and not each.pins]
        held.sort(key=lambda each: each.used)
        for each in self._open:
            each.used = False
        for each in held:
            if self.held_bytes <= self._held_max_bytes * 3 // 4:
                return
            if each is not wanted:
                each.close()

    def _make_room(self) -> None:
        """Close an eighth of the limit: unused ones first, then the longest open."""
        wanted = max(self._limit // 8, 1)
        idle = [file for file in self._open if not file.used and not file.pins]
        if len(idle) < wanted:
            idle += [file for file in self._open if file.used and not file.pins]
        for file in self._open:
            file.used = False
        for file in idle[:wanted]:
            file.close()
