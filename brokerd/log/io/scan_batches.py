"""Walking through the batches of a data file.

`walk_headers` reads headers only, in small chunks (look-ups, inspection); `checked_batches` reads
everything and checks each CRC (recovery). Both end silently at the first byte where no whole batch
starts. Memory is bounded whatever a header claims. Both have the system read ahead of them, which
it does not do for these files by itself (`open_files`).
"""

import os
from collections.abc import Iterator
from typing import Final

from crc32c import crc32c

from brokerd.protocol.records import CRC_START, HEADER_BYTES, MAGIC, BatchHeader, read_header

CHUNK_BYTES: Final = 8 << 10
WINDOW_BYTES: Final = 1 << 20
AHEAD_BYTES: Final = 256 << 10


def walk_headers(
    fd: int, position_bytes: int, end_bytes: int, chunk_bytes: int = CHUNK_BYTES
) -> Iterator[tuple[int, BatchHeader]]:
    """(position, header) of each whole batch between two positions. Raises OSError."""
    position = read_ahead_to = position_bytes
    while position + HEADER_BYTES <= end_bytes:
        chunk = os.pread(fd, min(chunk_bytes, end_bytes - position), position)
        start = position
        while position - start + HEADER_BYTES <= len(chunk):
            header = read_header(chunk, position - start)
            if not is_plausible(header, end_bytes - position):
                return
            yield position, header
            position += header.size_bytes
        if position == start:
            return
        if read_ahead_to <= position <= start + chunk_bytes:  # no bytes are skipped
            read_ahead_to = position + AHEAD_BYTES
            os.posix_fadvise(fd, position, AHEAD_BYTES, os.POSIX_FADV_WILLNEED)


def checked_batches(
    fd: int, position_bytes: int, end_bytes: int
) -> Iterator[tuple[int, BatchHeader]]:
    """(position, header) of each intact batch between two positions. Raises OSError."""
    window = memoryview(bytearray(min(WINDOW_BYTES, max(end_bytes - position_bytes, 1))))
    position = position_bytes
    while position + HEADER_BYTES <= end_bytes:
        filled = os.preadv(fd, [window[: end_bytes - position]], position)
        os.posix_fadvise(fd, position + filled, WINDOW_BYTES, os.POSIX_FADV_WILLNEED)
        at = 0
        while at + HEADER_BYTES <= filled:
            header = read_header(window, at)
            if not is_plausible(header, end_bytes - position):
                return
            size = header.size_bytes
            if at + size <= filled:
                crc = crc32c(window[at + CRC_START : at + size])
            elif at:
                break  # it may fit a window that starts with it
            else:
                crc = _crc_of_large(fd, position, size, window)
            if crc != header.crc:
                return
            yield position, header
            at += size
            position += size
        if at == 0:
            return


def header_at(fd: int, position_bytes: int) -> BatchHeader | None:
    """What would be a batch's header; None where the file ends before. Raises OSError."""
    data = os.pread(fd, HEADER_BYTES, position_bytes)
    return read_header(data) if len(data) == HEADER_BYTES else None


def is_plausible(header: BatchHeader, room_bytes: int) -> bool:
    return header.magic == MAGIC and HEADER_BYTES <= header.size_bytes <= room_bytes


def _crc_of_large(fd: int, position: int, size: int, window: memoryview) -> int:
    """CRC of a batch larger than the window, which it overwrites piece by piece."""
    crc = 0
    at = position + CRC_START
    end = position + size
    while at < end:
        filled = os.preadv(fd, [window[: end - at]], at)
        if filled == 0:
            return -1
        crc = crc32c(window[:filled], crc)
        at += filled
    return crc
