"""Checks the records of a producer's batch before it is appended, corrects its header, and
compresses it with the codec of its topic (Kafka's LogValidator). Pure; it takes milliseconds a
megabyte and may run in any thread.
"""

from typing import NamedTuple

from brokerd.errors import ErrorCode, KafkaError
from brokerd.log.log_validator.validate_records import (
    REPORTED_MAX,
    RefusedRecords,
    Rules,
    validate_records,
)
from brokerd.protocol.compression import compress, decompress, require_readable
from brokerd.protocol.records import (
    CODEC_MASK,
    DELETE_HORIZON,
    HEADER,
    HEADER_BYTES,
    LENGTH_OVERHEAD_BYTES,
    LOG_APPEND_TIME,
    BatchHeader,
    Buffer,
    read_header,
    write_crc,
)


class RecordWork(NamedTuple):
    """One batch's work. `codec` is what it is stored with, `level` that codec's (None: default)."""

    codec: int
    level: int | None
    rules: Rules
    is_append_time: bool
    max_message_bytes: int


def validate_and_recompress(
    batch: Buffer, work: RecordWork, max_bytes: int | None = None
) -> Buffer:
    """The batch to append: the same one, changed in place where it must be, or a new one. The batch
    has passed `validate_batch`. `max_bytes` bounds its decompressed records. Raises KafkaError as
    `validate_records` and `decompress` do, and MESSAGE_TOO_LARGE for one that has grown."""
    header = read_header(batch)
    if header.is_log_append_time and work.is_append_time:
        raise _refused_time(header)
    packed = memoryview(batch)[HEADER_BYTES:]
    require_readable(header.codec, packed)
    data = decompress(header.codec, packed, max_bytes)
    largest_ms = validate_records(header, data, work.rules)
    attributes = header.attributes & ~(LOG_APPEND_TIME | DELETE_HORIZON)
    if header.codec != work.codec:
        batch = bytearray(HEADER_BYTES)
        batch += compress(work.codec, data, work.level)
        if len(batch) > work.max_message_bytes:
            raise KafkaError(
                ErrorCode.MESSAGE_TOO_LARGE,
                f"the batch has {len(batch)} bytes as the topic's compression.type has it, "
                f"max.message.bytes is {work.max_message_bytes}",
            )
        attributes = attributes & ~CODEC_MASK | work.codec
    elif attributes == header.attributes and largest_ms == header.max_timestamp:
        return batch
    changed = header._replace(
        length=len(batch) - LENGTH_OVERHEAD_BYTES, attributes=attributes, max_timestamp=largest_ms
    )
    HEADER.pack_into(batch, 0, *changed)
    write_crc(batch)
    return batch


def _refused_time(header: BatchHeader) -> RefusedRecords:
    message = "Invalid timestamp type in message. Producer should not set timestamp type to "
    message += "LogAppendTime."
    return RefusedRecords(
        ErrorCode.INVALID_TIMESTAMP,
        "One or more records have been rejected due to invalid timestamp",
        [(index, message) for index in range(min(header.count, REPORTED_MAX))],
    )
