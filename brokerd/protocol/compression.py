"""The five codecs of a record batch, and decompression that cannot be made to fill the memory.

Codec numbers are bits 0-2 of a batch's attributes. Framing, as Kafka's Java client has it:
- gzip: a plain gzip member;
- snappy: xerial framing (magic, two int32 versions, then chunks of int32 length + raw snappy); a
  payload without the magic is one raw snappy block, which is what librdkafka sends;
- lz4: an LZ4 frame with independent blocks (Kafka's Java reader refuses linked ones);
- zstd: a zstd frame.

Batches of older formats than 2 are refused before (log_validator/validate_size_and_crc.py).

A decompressed size is not known beforehand for three of the four, so the output starts at a
multiple of the input and grows up to the limit; beyond that the batch is refused.
"""

import struct
from collections.abc import Callable
from enum import IntEnum

import cramjam

from brokerd.errors import ErrorCode, KafkaError


class TooManyBytes(KafkaError):
    """Records that would take more memory than they may."""


class Codec(IntEnum):
    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


def codec_name(codec: int) -> str:
    """As Kafka's dump tool writes it; the number itself where a batch names no known codec."""
    return Codec(codec).name.lower() if codec in list(Codec) else str(codec)


DECOMPRESSED_BYTES_MAX = 64 << 20
DECOMPRESSED_FACTOR_MAX = 50
GZIP_DEFAULT, LZ4_DEFAULT, ZSTD_DEFAULT = 6, 9, 3
_LZ4_FAST = 1

_XERIAL_MAGIC = b"\x82SNAPPY\x00"
_XERIAL_HEADER = _XERIAL_MAGIC + struct.pack(">ii", 1, 1)
_XERIAL_CHUNK_BYTES = 32 << 10
_INT32 = struct.Struct(">i")
_UINT32 = struct.Struct("<I")
_LZ4_MAGIC, _LZ4_INDEPENDENT = b"\x04\x22\x4d\x18", 0x20
_GZIP_FACTOR_MAX = 1032
_OUTPUT_BYTES_MIN = 16 << 10
_PANIC = "PanicException"
"""What a panic of the codecs' Rust becomes: no Exception, and a class that cannot be imported."""
_OUTPUT_FULL = "failed to write whole buffer"


def compress(codec: int, data: bytes | bytearray | memoryview, level: int | None = None) -> bytes:
    """`data` as `codec` frames it, with Kafka's `level` or its default. Codec.NONE gives a copy."""
    if codec == Codec.NONE:
        return bytes(data)
    if codec == Codec.GZIP:
        return bytes(cramjam.gzip.compress(data, GZIP_DEFAULT if level in (None, -1) else level))
    if codec == Codec.SNAPPY:
        return _compress_xerial(memoryview(data))
    if codec == Codec.LZ4:
        compressor = cramjam.lz4.Compressor(
            level=_lz4_level(level), content_checksum=False, block_linked=False
        )
        compressor.compress(bytes(data))
        return bytes(compressor.finish())
    if codec == Codec.ZSTD:
        return bytes(cramjam.zstd.compress(data, ZSTD_DEFAULT if level is None else level))
    raise _unknown(codec)


def _lz4_level(level: int | None) -> int:
    """As Kafka's Lz4BlockOutputStream takes it: the default is the fast compressor, any other level
    the high compressor, which knows 3 to 12."""
    if level is None or level == LZ4_DEFAULT:
        return _LZ4_FAST
    return min(max(level, 3), 12)


def decompress(codec: int, data: memoryview, max_bytes: int | None = None) -> memoryview:
    """The records behind `data`, at most `max_bytes` (None: `decompressed_max`). Raises KafkaError:
    INVALID_RECORD when the data are damaged, TooManyBytes, UNSUPPORTED_COMPRESSION_TYPE."""
    if codec == Codec.NONE:
        return data
    if codec not in _DECOMPRESSORS:
        raise _unknown(codec)
    if max_bytes is None:
        max_bytes = decompressed_max(len(data))
    try:
        return _DECOMPRESSORS[codec](data, max_bytes)
    except cramjam.DecompressionError as error:
        raise _damaged(codec, str(error)) from None
    except BaseException as error:
        if type(error).__name__ != _PANIC:
            raise
        raise _damaged(codec, "its decoder gave up on it") from error


def require_readable(codec: int, data: memoryview) -> None:
    """Raises KafkaError(INVALID_RECORD) for what Kafka's clients could not decompress."""
    is_frame = codec == Codec.LZ4 and bytes(data[: len(_LZ4_MAGIC)]) == _LZ4_MAGIC
    if is_frame and len(data) > len(_LZ4_MAGIC) and not data[len(_LZ4_MAGIC)] & _LZ4_INDEPENDENT:
        raise KafkaError(
            ErrorCode.INVALID_RECORD,
            "the blocks of the lz4 data depend on each other, which Kafka's Java clients cannot "
            "read: the producer must make them independent",
        )


def decompressed_max(size_bytes: int) -> int:
    """How many bytes the records of a compressed batch of this size may have. Small batches of
    equal records compress a hundred times and more, batches of megabytes of real data do not."""
    return max(DECOMPRESSED_BYTES_MAX, DECOMPRESSED_FACTOR_MAX * size_bytes)


def _compress_xerial(data: memoryview) -> bytes:
    out = bytearray(_XERIAL_HEADER)
    for start in range(0, len(data), _XERIAL_CHUNK_BYTES):
        chunk = bytes(cramjam.snappy.compress_raw(data[start : start + _XERIAL_CHUNK_BYTES]))
        out += _INT32.pack(len(chunk))
        out += chunk
    return bytes(out)


def _decompress_snappy(data: memoryview, max_bytes: int) -> memoryview:
    if bytes(data[: len(_XERIAL_MAGIC)]) != _XERIAL_MAGIC:
        return memoryview(_snappy_block(data, 0, max_bytes))
    out = bytearray()
    position = len(_XERIAL_HEADER)
    while position < len(data):
        if position + 4 > len(data):
            raise _damaged(Codec.SNAPPY, "it ends inside a chunk length")
        (size,) = _INT32.unpack_from(data, position)
        position += 4
        if size < 0 or position + size > len(data):
            raise _damaged(Codec.SNAPPY, f"a chunk of {size} bytes does not fit")
        out += _snappy_block(data[position : position + size], len(out), max_bytes)
        position += size
    return memoryview(out)


def _snappy_block(data: memoryview, before_bytes: int, max_bytes: int) -> bytearray:
    """One block, which with the `before_bytes` in front of it may not exceed `max_bytes`."""
    size = cramjam.snappy.decompress_raw_len(data)
    if before_bytes + size > max_bytes:
        raise _too_large(Codec.SNAPPY, max_bytes)
    out = bytearray(size)
    written = cramjam.snappy.decompress_raw_into(data, out)
    if written != size:
        raise _damaged(Codec.SNAPPY, f"{written} bytes came out instead of {size}")
    return out


def _growing(
    codec: Codec, into: Callable[[memoryview, bytearray], int]
) -> Callable[[memoryview, int], memoryview]:
    def run(data: memoryview, max_bytes: int) -> memoryview:
        size = min(max(4 * len(data), _declared_size(codec, data), _OUTPUT_BYTES_MIN), max_bytes)
        while True:
            out = bytearray(size)
            try:
                return memoryview(out)[: into(data, out)]
            except cramjam.DecompressionError as error:
                if str(error) != _OUTPUT_FULL:
                    raise
            if size >= max_bytes:
                raise _too_large(codec, max_bytes)
            size = min(4 * size, max_bytes)
            del out

    return run


def _declared_size(codec: Codec, data: memoryview) -> int:
    """What a gzip member says of its size at its end, as far as it can be true; else 0."""
    if codec != Codec.GZIP or len(data) < _UINT32.size:
        return 0
    (size,) = _UINT32.unpack_from(data, len(data) - _UINT32.size)
    return int(size) if size <= _GZIP_FACTOR_MAX * len(data) else 0


_DECOMPRESSORS: dict[int, Callable[[memoryview, int], memoryview]] = {
    Codec.GZIP: _growing(Codec.GZIP, cramjam.gzip.decompress_into),
    Codec.SNAPPY: _decompress_snappy,
    Codec.LZ4: _growing(Codec.LZ4, cramjam.lz4.decompress_into),
    Codec.ZSTD: _growing(Codec.ZSTD, cramjam.zstd.decompress_into),
}


def _unknown(codec: int) -> KafkaError:
    return KafkaError(
        ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, f"{codec} is not the number of a codec"
    )


def _damaged(codec: int, what: str) -> KafkaError:
    return KafkaError(
        ErrorCode.INVALID_RECORD, f"the {Codec(codec).name.lower()} data is damaged: {what}"
    )


def _too_large(codec: Codec, max_bytes: int) -> KafkaError:
    return TooManyBytes(
        ErrorCode.INVALID_RECORD,
        f"the {codec.name.lower()} data holds more than the {max_bytes} bytes allowed",
    )
