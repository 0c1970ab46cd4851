"""Reading a small file as a whole in fewer steps than `open(path).read()` takes, since thousands of
them are read when logs are used for the first time.
"""

import os

PIECE_BYTES = 1 << 20


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
