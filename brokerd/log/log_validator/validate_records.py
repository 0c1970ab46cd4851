"""The checks of a producer's records, as Kafka's LogValidator and DefaultRecord have them. The
records are walked without being decoded.

A record lies in its batch, its fields fill it, it is numbered in order; on a compacted
topic it has a key; its timestamp is within the topic's limits (-1 is "none" and passes).
"""

from typing import Final, NamedTuple

from brokerd.errors import ErrorCode, KafkaError
from brokerd.integer_ranges import INT64_MAX
from brokerd.protocol.records import NO_TIMESTAMP, BatchHeader
from brokerd.protocol.varint import read_varint

REPORTED_MAX: Final = 1000
"""A Produce returns the errors of at most so many records."""


class Rules(NamedTuple):
    """What a topic asks of records. `limits_ms` are the earliest and the latest timestamp."""

    needs_key: bool = False
    limits_ms: tuple[int, int] | None = None
    topic_partition: str = ""
    """As Kafka names it in its messages: `topic-0`."""


class RefusedRecords(KafkaError):
    """Records that are sound but may not be appended: (index in the batch, why) of each."""

    def __init__(self, code: ErrorCode, message: str, records: list[tuple[int, str]]) -> None:
        super().__init__(code, message)
        self.records = records[:REPORTED_MAX]


def validate_records(header: BatchHeader, data: memoryview, rules: Rules) -> int:
    """The largest timestamp of the records in `data` (decompressed). Raises
    KafkaError(INVALID_RECORD) at the first damaged one, RefusedRecords (INVALID_RECORD,
    INVALID_TIMESTAMP) after all if the topic does not take some, and KafkaError(INVALID_TIMESTAMP)
    for a time that is no int64."""
    keyless: list[int] = []
    late: list[tuple[int, int]] = []
    try:
        largest_ms = _walk(header, data, rules, keyless, late)
    except IndexError:
        raise _invalid("a record ends outside its batch") from None
    if keyless or late:
        raise _refused(rules, keyless, late)
    if largest_ms > INT64_MAX:  # a first timestamp and a difference that no sum holds
        raise KafkaError(ErrorCode.INVALID_TIMESTAMP, "a record's timestamp is past 2^63 ms")
    return largest_ms


def _walk(
    header: BatchHeader,
    data: memoryview,
    rules: Rules,
    keyless: list[int],
    late: list[tuple[int, int]],
) -> int:
    """One long function: a call for each field would double the time of each record."""
    base_ms = header.base_timestamp
    largest_ms = NO_TIMESTAMP
    needs_key = rules.needs_key
    limits = rules.limits_ms
    data_end = len(data)
    end = 0
    for index in range(header.count):
        byte = data[end]
        if byte < 0x80:
            at = end + 1
            end = at + (byte >> 1)
        elif (second := data[end + 1]) < 0x80:
            at = end + 2
            end = at + ((byte & 0x7F | second << 7) >> 1)
        else:
            size, at = read_varint(data, end)
            end = at + size
        if end > data_end or end <= at or byte & 1:
            raise _invalid(f"record {index} does not fit its batch")
        byte = data[at + 1]  # behind the attributes
        if byte < 0x80:
            time_ms = base_ms + ((byte >> 1) ^ -(byte & 1))
            at += 2
        else:
            delta, at = read_varint(data, at + 1)
            time_ms = base_ms + delta
        byte = data[at]
        if byte < 0x80:
            number = byte >> 1
            at += 1
        elif (second := data[at + 1]) < 0x80:
            number = (byte & 0x7F | second << 7) >> 1
            at += 2
        else:
            number, at = read_varint(data, at)
        if number != index or byte & 1:
            raise _invalid(f"record {index} of the batch is not numbered so")
        byte = data[at]  # the key
        if byte & 0x81:
            size, at = read_varint(data, at)
            at += max(size, 0)
            if size < 0 and needs_key:
                keyless.append(index)
        else:
            at += 1 + (byte >> 1)
        byte = data[at]  # the value
        if not byte & 0x81:
            at += 1 + (byte >> 1)
        elif byte & 1 == 0 and (second := data[at + 1]) < 0x80:
            at += 2 + ((byte & 0x7F | second << 7) >> 1)
        else:
            size, at = read_varint(data, at)
            at += max(size, 0)
        if at >= end or data[at] or at + 1 != end:
            _pass_headers(data, at, end)
        if time_ms > largest_ms:
            largest_ms = time_ms
        if (
            limits
            and not limits[0] <= time_ms <= limits[1]
            and time_ms != NO_TIMESTAMP
            and keyless[-1:] != [index]
        ):
            late.append((index, time_ms))
    if end != data_end:
        raise _invalid(f"{data_end - end} bytes follow the last record")
    return largest_ms


def _pass_headers(data: memoryview, at: int, end: int) -> None:
    if at >= end:
        raise _invalid("a record is shorter than its fields")
    count, at = read_varint(data, at)
    if not 0 <= count <= end - at:
        raise _invalid(f"a record cannot have {count} headers")
    for _ in range(count):
        size, at = read_varint(data, at)
        if size < 0:
            raise _invalid("a record header has no key")
        at += size
        size, at = read_varint(data, at)
        at += max(size, 0)
        if at > end:
            break
    if at != end:
        raise _invalid("a record is not as long as its fields")


def _invalid(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_RECORD, message)


def _refused(rules: Rules, keyless: list[int], late: list[tuple[int, int]]) -> RefusedRecords:
    """In Kafka's words, which some users' programs look for."""
    message = "Compacted topic cannot accept message without key in topic partition "
    refused = [(index, message + rules.topic_partition) for index in keyless[:REPORTED_MAX]]
    if late:
        earliest_ms, latest_ms = rules.limits_ms or (0, 0)
        refused += [
            (
                index,
                f"Timestamp {time_ms} of message with offset {index} is out of range. The "
                f"timestamp should be within [{earliest_ms}, {latest_ms}]",
            )
            for index, time_ms in late[:REPORTED_MAX]
        ]
        return RefusedRecords(
            ErrorCode.INVALID_TIMESTAMP,
            "One or more records have been rejected due to invalid timestamp",
            sorted(refused),
        )
    first = ", ".join(f"RecordError(batchIndex={i}, message='{text}')" for i, text in refused[:3])
    return RefusedRecords(
        ErrorCode.INVALID_RECORD,
        f"One or more records have been rejected due to {len(keyless)} record errors in total, "
        f"and only showing the first three errors at most: [{first}]",
        refused,
    )
