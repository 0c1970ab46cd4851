"""Walks through the batches of a segment's log file, and samples their compression. Pure.

As brokerd's own scan (brokerd/log/io/scan_batches.py) it ends at the first byte where no whole
batch of format version 2 starts, and needs little memory whatever a header says.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from crc32c import crc32c

from brokerd.errors import KafkaError
from brokerd.protocol.compression import codec_name, decompress
from brokerd.protocol.records import CRC_START, HEADER_BYTES, MAGIC, BatchHeader, read_header
from monitoring.gateway.log_directory.damaged_file import ReadAt

Placed = tuple[int, BatchHeader]  # the position of a batch in the file, and its header
SAMPLED_BATCHES_MAX = 8
_SAMPLED_BYTES_MAX = 512 << 10  # of the batches of one sample, as stored
_DECOMPRESSED_BYTES_MAX = 4 << 20  # of one batch
_HEADERS_BYTES, _CRC_BYTES = 8 << 10, 1 << 20  # of one read


def walk_headers(read: ReadAt, position: int, end: int) -> Iterator[Placed]:
    """The whole batches between two positions. Raises OSError."""
    while position + HEADER_BYTES <= end:
        chunk = read(position, min(_HEADERS_BYTES, end - position))
        start = position
        while position - start + HEADER_BYTES <= len(chunk):
            header = read_header(chunk, position - start)
            if header.magic != MAGIC or not HEADER_BYTES <= header.size_bytes <= end - position:
                return
            yield position, header
            position += header.size_bytes
        if position == start:
            return


def is_crc_ok(read: ReadAt, position: int, header: BatchHeader) -> bool:
    """Whether the CRC of a batch is the one of its bytes. Raises OSError."""
    crc, end = 0, position + header.size_bytes
    position += CRC_START
    while position < end:
        data = read(position, min(_CRC_BYTES, end - position))
        if not data:
            return False
        crc = crc32c(data, crc)
        position += len(data)
    return crc == header.crc


def sample_compression(read: ReadAt, end: int) -> dict[str, Any]:
    """The codecs of the first batches, and the sizes of those that were decompressed, header
    included. Raises OSError."""
    codecs: dict[str, None] = {}
    batches = size_bytes = uncompressed_bytes = 0
    for position, header in islice(walk_headers(read, 0, end), SAMPLED_BATCHES_MAX):
        codecs[codec_name(header.codec)] = None
        if size_bytes + header.size_bytes > _SAMPLED_BYTES_MAX:
            continue
        uncompressed = _uncompressed_bytes(read, position, header)
        if uncompressed is not None:
            batches += 1
            size_bytes += header.size_bytes
            uncompressed_bytes += uncompressed
    return {
        "codecs": list(codecs),
        "batches": batches,
        "size_bytes": size_bytes,
        "uncompressed_bytes": uncompressed_bytes,
    }


def _uncompressed_bytes(read: ReadAt, position: int, header: BatchHeader) -> int | None:
    """The size of the batch without compression; None if it is damaged or too large."""
    if not header.codec:
        return header.size_bytes
    stored = memoryview(read(position, header.size_bytes))[HEADER_BYTES:]
    try:
        return HEADER_BYTES + len(decompress(header.codec, stored, _DECOMPRESSED_BYTES_MAX))
    except KafkaError:
        return None
