"""How well a segment is compressed, estimated from its first batches: few, and bounded before and
after decompression. Sizes are those of whole batches, header included.
"""

import os
from itertools import islice
from typing import Final, NamedTuple

from brokerd.errors import KafkaError
from brokerd.log.io.open_files import FileRange
from brokerd.log.io.scan_batches import walk_headers
from brokerd.protocol.compression import codec_name, decompress
from brokerd.protocol.records import HEADER_BYTES, BatchHeader

BATCHES_MAX: Final = 8
STORED_BYTES_MAX: Final = 512 << 10
"""Of the batches of one sample, as stored; of a batch beyond them only the codec is reported."""
DECOMPRESSED_BYTES_MAX: Final = 4 << 20
"""Of one batch, decompressed."""


class CompressionSample(NamedTuple):
    """The codecs of the first batches, and the sizes of the `batches` that were decompressed."""

    codecs: tuple[str, ...]
    batches: int
    size_bytes: int
    uncompressed_bytes: int


def sample(data: FileRange) -> CompressionSample:
    """Samples the beginning of a data file; may be called in any thread. Raises OSError."""
    codecs: dict[str, None] = {}
    batches = size_bytes = uncompressed_bytes = 0
    start = data.position_bytes
    walk = walk_headers(data.fd, start, start + data.size_bytes)
    for position, header in islice(walk, BATCHES_MAX):
        codecs[codec_name(header.codec)] = None
        if size_bytes + header.size_bytes > STORED_BYTES_MAX:
            continue
        uncompressed = _uncompressed_bytes(data.fd, position, header)
        if uncompressed is not None:
            batches += 1
            size_bytes += header.size_bytes
            uncompressed_bytes += uncompressed
    return CompressionSample(tuple(codecs), batches, size_bytes, uncompressed_bytes)


def _uncompressed_bytes(fd: int, position: int, header: BatchHeader) -> int | None:
    """The size of the batch without compression; None if it is damaged or too large."""
    if not header.codec:
        return header.size_bytes
    stored = memoryview(os.pread(fd, header.size_bytes, position))[HEADER_BYTES:]
    try:
        return HEADER_BYTES + len(decompress(header.codec, stored, DECOMPRESSED_BYTES_MAX))
    except KafkaError:
        return None
