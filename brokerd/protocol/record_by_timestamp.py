"""Finds the record of a batch by its timestamp; the records are walked without being decoded."""

from brokerd.errors import ErrorCode, KafkaError
from brokerd.protocol.records import BatchHeader, wrapped_timestamp
from brokerd.protocol.varint import read_varint


def first_at_or_after(
    header: BatchHeader, data: bytes | memoryview, timestamp_ms: int, min_offset: int
) -> tuple[int, int] | None:
    """(offset, timestamp) of the first of the records in `data` (decompressed) with a timestamp
    >= `timestamp_ms` and an offset >= `min_offset`. Of the others no more is read than how long
    they are, and when. Raises KafkaError(INVALID_RECORD) if they are damaged before that."""
    stamped = header.is_log_append_time
    if stamped and header.max_timestamp < timestamp_ms:
        return None
    end = 0
    for index in range(header.count):
        size, at = read_varint(data, end)
        end = at + size
        if size <= 0 or end > len(data):
            raise _damaged(f"record {index} does not fit its batch")
        delta, at = read_varint(data, at + 1)  # behind the attributes
        time_ms = header.max_timestamp
        if not stamped:
            time_ms = wrapped_timestamp(header.base_timestamp + delta)
        if time_ms >= timestamp_ms:
            offset = header.base_offset + read_varint(data, at)[0]
            if offset >= min_offset:
                return offset, time_ms
    if end != len(data):
        raise _damaged(f"{len(data) - end} bytes follow the last record")
    return None


def _damaged(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_RECORD, message)
