"""A producer's batch: what its header and its CRC have it refused for, and what is plain."""

import struct
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokerd.errors import ErrorCode, KafkaError
from brokerd.log.log_validator.validate_size_and_crc import (
    has_odd_header,
    is_plain,
    validate_batch,
)
from brokerd.protocol.compression import Codec
from brokerd.protocol.records import (
    CONTROL,
    DELETE_HORIZON,
    HEADER_BYTES,
    LOG_APPEND_TIME,
    Record,
    encode_batch,
    iter_records,
    write_crc,
)
from tests.brokerd.protocol.generated_records import codecs, some_records

LIMIT = 1 << 20


def refusal(batch: bytearray, limit: int = LIMIT) -> ErrorCode:
    with pytest.raises(KafkaError) as caught:
        validate_batch(memoryview(batch), limit)
    return caught.value.code


def with_field(position: int, format_: str, value: int) -> bytearray:
    """A good batch with one header field changed and the CRC right again."""
    batch = encode_batch([Record(0, 1, b"k", b"v"), Record(0, 2, b"k", b"v")])
    struct.pack_into(format_, batch, position, value)
    write_crc(batch)
    return batch


@given(st.binary(max_size=300))
def test_garbage_is_refused_and_never_breaks_anything(data: bytes) -> None:
    refusal(bytearray(data))


@given(some_records, codecs, st.data())
def test_damage_inside_is_told_as_such(
    records: list[Record], codec: Codec, data: st.DataObject
) -> None:
    batch = encode_batch(records, codec=codec)
    at = data.draw(st.integers(HEADER_BYTES, len(batch) - 1))
    batch[at] ^= data.draw(st.integers(1, 255))
    assert refusal(batch) is ErrorCode.CORRUPT_MESSAGE
    write_crc(batch)  # a batch that lies inside: the header is fine, the records may not be
    header = validate_batch(memoryview(batch), LIMIT)
    with suppress(KafkaError):
        list(iter_records(header, memoryview(batch)))


@pytest.mark.parametrize("size", [0, 10, 16, 30, 60, 61, 165])
def test_a_torn_batch_is_no_batch(size: int) -> None:
    batch = encode_batch([Record(0, 1, b"k", b"v" * 100)])
    assert refusal(batch[:size]) is ErrorCode.INVALID_RECORD


def test_two_batches_for_one_partition_are_refused() -> None:
    batch = encode_batch([Record(0, 1, b"k", b"v")])
    assert refusal(batch + batch) is ErrorCode.INVALID_RECORD


def test_a_batch_over_the_limit_is_too_large() -> None:
    batch = encode_batch([Record(0, 1, None, bytes(100))])
    assert refusal(batch, limit=len(batch) - 1) is ErrorCode.MESSAGE_TOO_LARGE
    assert validate_batch(memoryview(batch), len(batch)).size_bytes == len(batch)


@pytest.mark.parametrize(
    ("position", "format_", "value", "code"),
    [
        (0, ">q", 5, ErrorCode.INVALID_RECORD),
        (16, ">b", 1, ErrorCode.INVALID_RECORD),
        (16, ">b", 3, ErrorCode.CORRUPT_MESSAGE),
        (21, ">h", 5, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE),
        (21, ">h", CONTROL, ErrorCode.INVALID_RECORD),
        (23, ">i", 7, ErrorCode.INVALID_RECORD),
        (57, ">i", 3, ErrorCode.INVALID_RECORD),
        (57, ">i", -1, ErrorCode.INVALID_RECORD),
        (43, ">q", 9, ErrorCode.INVALID_RECORD),
        (8, ">i", -20, ErrorCode.CORRUPT_MESSAGE),
        (8, ">i", 20, ErrorCode.CORRUPT_MESSAGE),
    ],
)
def test_a_header_that_lies_is_refused(
    position: int, format_: str, value: int, code: ErrorCode
) -> None:
    batch = with_field(position, format_, value)
    assert refusal(batch) is code
    assert not is_plain(memoryview(batch), LIMIT)


@pytest.mark.parametrize(
    ("position", "format_", "value"),
    [
        (21, ">h", LOG_APPEND_TIME),
        (21, ">h", DELETE_HORIZON),
        (27, ">q", -2),
        (27, ">q", 3),
        (35, ">q", 0),
        (35, ">q", -1),
        (35, ">q", -2),
    ],
)
def test_a_header_that_the_records_can_set_right_is_odd(
    position: int, format_: str, value: int
) -> None:
    batch = memoryview(with_field(position, format_, value))
    assert has_odd_header(validate_batch(batch, LIMIT))
    assert not is_plain(batch, LIMIT)


@given(some_records, codecs)
def test_a_sound_batch_is_plain_and_so_is_one_without_times(
    records: list[Record], codec: Codec
) -> None:
    for each in (records, [record._replace(timestamp_ms=-1) for record in records]):
        batch = memoryview(encode_batch(each, codec=codec))
        assert is_plain(batch, LIMIT)
        assert not has_odd_header(validate_batch(batch, LIMIT))
        assert not is_plain(batch, LIMIT, codec - 1)
        assert not is_plain(batch, len(batch) - 1)


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.ZSTD])
def test_no_batch_says_more_records_than_its_bytes_can_hold(codec: Codec) -> None:
    records = [Record(0, -1, None, None)] * 9
    batch = encode_batch(records, codec=codec)
    assert is_plain(memoryview(batch), LIMIT)
    most = 9 if codec == Codec.NONE else (64 << 20) // 7
    for count in (most, most + 1, (1 << 31) - 1):
        struct.pack_into(">i", batch, 23, count - 1)
        struct.pack_into(">i", batch, 57, count)
        write_crc(batch)
        assert is_plain(memoryview(batch), LIMIT) == (count <= most)
        if count > most:
            assert refusal(batch) is ErrorCode.INVALID_RECORD
        else:
            assert validate_batch(memoryview(batch), LIMIT).count == count


def test_a_plain_batch_with_a_wrong_crc_is_none() -> None:
    batch = encode_batch([Record(0, 1, b"k", b"v")])
    batch[-1] ^= 1
    assert not is_plain(memoryview(batch), LIMIT)
