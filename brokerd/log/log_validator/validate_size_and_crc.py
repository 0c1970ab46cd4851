"""The checks of a producer's batch that need only its header and its CRC: size (max.message.bytes),
counts, offsets, producer (in Kafka's UnifiedLog.analyzeAndValidateRecords and
LogValidator.validateBatch). `validate_records` checks its records, and
`validate_and_recompress` the size of a batch that was compressed anew.
"""

import struct
from typing import Final

from crc32c import crc32c

from brokerd.errors import ErrorCode, InvalidProduceRecordsError, KafkaError
from brokerd.protocol.compression import DECOMPRESSED_BYTES_MAX, Codec, decompressed_max
from brokerd.protocol.records import (
    CODEC_MASK,
    CRC_START,
    DELETE_HORIZON,
    FLAGS,
    HEADER,
    HEADER_BYTES,
    LENGTH_OVERHEAD_BYTES,
    LOG_APPEND_TIME,
    MAGIC,
    NO_TIMESTAMP,
    RECORD_BYTES_MIN,
    BatchHeader,
    crc_matches,
    read_header,
)

_COMPRESSED_COUNT_MAX: Final = DECOMPRESSED_BYTES_MAX // RECORD_BYTES_MIN
_unpack_header = HEADER.unpack_from
_LENGTH_POSITION: Final = 8
_LENGTH_AND_MAGIC: Final = struct.Struct(">i4xb")
_LENGTH_MIN: Final = 14


def is_plain(view: memoryview, max_message_bytes: int, codec_max: int = Codec.ZSTD) -> bool:
    """Whether a producer's records are one whole, intact batch with nothing unusual in its header:
    `validate_batch` accepts it, no flag is set, and the timestamps are in order."""
    size = len(view)
    if size < HEADER_BYTES:
        return False
    (
        base_offset, length, _, magic, crc, attributes, delta, first_ms, last_ms,
        producer_id, epoch, sequence, count,
    ) = _unpack_header(view)  # fmt: skip
    plain: bool = (
        length + LENGTH_OVERHEAD_BYTES == size
        and magic == MAGIC
        and size <= max_message_bytes
        and count == delta + 1
        and count >= 1
        and (
            count * RECORD_BYTES_MIN + HEADER_BYTES <= size
            or (attributes & CODEC_MASK != 0 and count <= _COMPRESSED_COUNT_MAX)
        )
        and base_offset == 0
        and attributes & FLAGS == 0
        and attributes & CODEC_MASK <= codec_max
        and last_ms >= first_ms >= NO_TIMESTAMP
        and (producer_id < 0 or epoch | sequence >= 0)
        and crc32c(view[CRC_START:]) == crc
    )
    return plain


def validate_batch(view: memoryview, max_message_bytes: int) -> BatchHeader:
    """Checks that a producer's records are exactly one whole, intact batch, by header and CRC.
    Raises KafkaError with the code that Kafka has: CORRUPT_MESSAGE (wrong CRC, no batch),
    MESSAGE_TOO_LARGE, UNSUPPORTED_COMPRESSION_TYPE, INVALID_RECORD (anything else)."""
    if len(view) < HEADER_BYTES:
        raise _not_one_batch(view)
    header = read_header(view)
    if header.magic != MAGIC or header.size_bytes != len(view):
        raise _not_one_batch(view)
    refused = _refusal(header, view, max_message_bytes)
    if refused is not None:
        raise refused
    return header


def has_odd_header(header: BatchHeader) -> bool:
    """Whether the header of a batch that passed `validate_batch` must be corrected from
    its records: its timestamps are impossible, or it has flags that only brokers set."""
    return bool(header.attributes & (LOG_APPEND_TIME | DELETE_HORIZON)) or not (
        header.max_timestamp >= header.base_timestamp >= NO_TIMESTAMP
    )


def _not_one_batch(view: memoryview) -> KafkaError:
    size = len(view)
    if size < _LENGTH_POSITION + _LENGTH_AND_MAGIC.size:
        message = f"{size} bytes are too few for a batch of records"
        return InvalidProduceRecordsError(ErrorCode.INVALID_RECORD, message)
    length, magic = _LENGTH_AND_MAGIC.unpack_from(view, _LENGTH_POSITION)
    claimed = length + LENGTH_OVERHEAD_BYTES
    if length < _LENGTH_MIN or not 0 <= magic <= MAGIC:
        return KafkaError(
            ErrorCode.CORRUPT_MESSAGE, f"a batch of {claimed} bytes and message format {magic}"
        )
    if claimed > size:
        message = f"the batch says it has {claimed} bytes, {size} were sent"
    elif magic != MAGIC:
        message = f"message format {magic} is not served; use a client of Kafka 0.11 or later"
    elif claimed < HEADER_BYTES:
        return KafkaError(ErrorCode.CORRUPT_MESSAGE, f"a batch of {claimed} bytes")
    else:
        message = "more than one batch was sent for one partition"
    return InvalidProduceRecordsError(ErrorCode.INVALID_RECORD, message)


def _refusal(header: BatchHeader, view: memoryview, max_message_bytes: int) -> KafkaError | None:
    code, message = ErrorCode.INVALID_RECORD, ""
    size = len(view)
    if header.base_offset != 0:
        message = f"the base offset of a producer's batch must be 0, not {header.base_offset}"
    elif size > max_message_bytes:
        code = ErrorCode.MESSAGE_TOO_LARGE
        message = f"the batch has {size} bytes, max.message.bytes is {max_message_bytes}"
    elif not crc_matches(header, view):
        code, message = ErrorCode.CORRUPT_MESSAGE, "the batch does not match its CRC"
    elif header.codec > Codec.ZSTD:
        code = ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
        message = f"{header.codec} is not the number of a codec"
    elif header.count != header.last_offset_delta + 1 or header.count < 1:
        last = header.last_offset_delta
        message = f"the batch says {header.count} records and last offset {last}"
    elif header.count > _count_max(header.codec, size):
        message = f"{header.count} records do not fit the {size} bytes of the batch"
    elif header.is_control:
        message = "control batches are written by brokers only"
    elif header.producer_id >= 0 and min(header.base_sequence, header.producer_epoch) < 0:
        message = "an idempotent batch needs a producer epoch and a sequence number"
    return KafkaError(code, message) if message else None


def _count_max(codec: int, size_bytes: int) -> int:
    """How many records a batch of that size may have at most."""
    room_bytes = size_bytes - HEADER_BYTES
    if codec != Codec.NONE:
        room_bytes = decompressed_max(room_bytes)
    return room_bytes // RECORD_BYTES_MIN
