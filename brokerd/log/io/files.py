"""Small files, made and read in fewer steps than `open` takes, since thousands are read when logs
are used for the first time; and directories and file systems made durable.
"""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

PIECE_BYTES = 1 << 20
_libc = ctypes.CDLL(None, use_errno=True)
_libc.syncfs.argtypes = (ctypes.c_int,)


@contextmanager
def opened(path: str, flags: int = os.O_RDONLY) -> Iterator[int]:
    """The descriptor of a file, which is closed at the end. Raises OSError."""
    fd = os.open(path, flags | os.O_CLOEXEC, 0o644)
    try:
        yield fd
    finally:
        os.close(fd)


def read_whole(path: str | os.PathLike[str]) -> bytes:
    """What is in a file. Raises OSError."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        size_bytes = os.fstat(fd).st_size
        data = os.read(fd, size_bytes + 1)
        while piece := os.read(fd, PIECE_BYTES) if len(data) > size_bytes else b"":
            data += piece
    finally:
        os.close(fd)
    return data


def make_empty(path: str) -> None:
    """Have an empty file there, whatever was there before. Raises OSError."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644))


def rename_if_there(path: str, to: str) -> bool:
    """Renames a file; returns whether there was one. Raises OSError."""
    try:
        os.rename(path, to)
    except FileNotFoundError:
        return False
    return True


def sync_path(path: str) -> None:
    """Makes durable what is in a file, or which names there are in a directory. Raises OSError."""
    with opened(path or ".") as fd:
        try:
            os.fsync(fd)
        except OSError as error:
            error.filename = path
            raise


def sync_filesystem(path: str) -> None:
    """Makes everything on the file system of `path` durable (syncfs). Raises OSError, also for what
    failed to be written since the last time."""
    with opened(path, os.O_RDONLY | os.O_DIRECTORY) as fd:
        if _libc.syncfs(fd) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), path)
