"""Record batches: round trips, refusals, and an independent implementation on the other side."""

import struct
from contextlib import suppress

import pytest
from aiokafka.record.default_records import DefaultRecordBatch, DefaultRecordBatchBuilder
from hypothesis import given
from hypothesis import strategies as st

from brokerd.errors import ErrorCode, KafkaError
from brokerd.protocol.compression import Codec
from brokerd.protocol.records import (
    CONTROL,
    DELETE_HORIZON,
    HEADER,
    HEADER_BYTES,
    LENGTH_OVERHEAD_BYTES,
    LOG_APPEND_TIME,
    Record,
    check_batch,
    crc_matches,
    encode_batch,
    is_odd,
    is_plain,
    iter_batches,
    iter_records,
    read_header,
    write_crc,
)
from brokerd.protocol.varint import write_varint

LIMIT = 1 << 20

some_bytes = st.none() | st.binary(max_size=200)
some_records = st.lists(
    st.builds(
        Record,
        offset=st.just(0),
        timestamp_ms=st.integers(0, 2**41),
        key=some_bytes,
        value=some_bytes,
        headers=st.lists(st.tuples(st.text(max_size=8), some_bytes), max_size=3).map(tuple),
    ),
    min_size=1,
    max_size=20,
)
codecs = st.sampled_from(list(Codec))


def refusal(batch: bytearray, limit: int = LIMIT) -> ErrorCode:
    with pytest.raises(KafkaError) as caught:
        check_batch(memoryview(batch), limit)
    return caught.value.code


def with_field(position: int, format_: str, value: int) -> bytearray:
    """A good batch with one header field changed and the CRC right again."""
    batch = encode_batch([Record(0, 1, b"k", b"v"), Record(0, 2, b"k", b"v")])
    struct.pack_into(format_, batch, position, value)
    write_crc(batch)
    return batch


@given(some_records, codecs, st.integers(0, 2**62))
def test_records_come_back_as_they_were_written(
    records: list[Record], codec: Codec, base_offset: int
) -> None:
    batch = encode_batch(records, codec=codec, base_offset=base_offset)
    header = read_header(batch)
    expected = [r._replace(offset=base_offset + i) for i, r in enumerate(records)]
    assert list(iter_records(header, memoryview(batch))) == expected
    assert header.max_timestamp == max(r.timestamp_ms for r in records)
    assert HEADER.pack(*header) == bytes(batch[:HEADER_BYTES])


@given(some_records, codecs)
def test_another_implementation_reads_our_batches(records: list[Record], codec: Codec) -> None:
    theirs = DefaultRecordBatch(bytes(encode_batch(records, codec=codec)))
    assert theirs.validate_crc()
    got = [(r.timestamp, r.key, r.value, tuple(r.headers)) for r in theirs]
    assert got == [(r.timestamp_ms, r.key, r.value, r.headers) for r in records]


@given(some_records, codecs)
def test_we_read_the_batches_of_another_implementation(records: list[Record], codec: Codec) -> None:
    builder = DefaultRecordBatchBuilder(2, codec, 0, -1, -1, -1, 1 << 24)
    for i, r in enumerate(records):
        builder.append(i, r.timestamp_ms, r.key, r.value, list(r.headers))
    data = memoryview(builder.build())
    got = list(iter_records(check_batch(data, 1 << 24), data))
    assert [r[1:] for r in got] == [r[1:] for r in records]


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
    header = check_batch(memoryview(batch), LIMIT)
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
    assert check_batch(memoryview(batch), len(batch)).size_bytes == len(batch)


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
    assert is_odd(check_batch(batch, LIMIT))
    assert not is_plain(batch, LIMIT)


@given(some_records, codecs)
def test_a_sound_batch_is_plain_and_so_is_one_without_times(
    records: list[Record], codec: Codec
) -> None:
    for each in (records, [record._replace(timestamp_ms=-1) for record in records]):
        batch = memoryview(encode_batch(each, codec=codec))
        assert is_plain(batch, LIMIT)
        assert not is_odd(check_batch(batch, LIMIT))
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
            assert check_batch(memoryview(batch), LIMIT).count == count


def test_a_plain_batch_with_a_wrong_crc_is_none() -> None:
    batch = encode_batch([Record(0, 1, b"k", b"v")])
    batch[-1] ^= 1
    assert not is_plain(memoryview(batch), LIMIT)


def test_offset_and_epoch_lie_outside_the_crc() -> None:
    batch = encode_batch([Record(0, 1, b"k", b"v")])
    struct.pack_into(">q", batch, 0, 12345)
    struct.pack_into(">i", batch, 12, 6)
    header = read_header(batch)
    assert (header.base_offset, header.leader_epoch) == (12345, 6)
    assert crc_matches(header, memoryview(batch))


def test_log_append_time_is_the_time_of_every_record() -> None:
    batch = encode_batch([Record(0, 5, None, b"a"), Record(0, 9, None, b"b")], attributes=8)
    header = read_header(batch)
    assert [r.timestamp_ms for r in iter_records(header, memoryview(batch))] == [9, 9]


def test_a_torn_batch_at_the_end_is_left_out() -> None:
    batch = encode_batch([Record(0, 1, b"k", b"v")])
    data = memoryview(bytes(batch + batch + batch[:-2]))
    assert [len(view) for _, view in iter_batches(data)] == [len(batch), len(batch)]


def test_what_is_no_batch_is_not_walked_over() -> None:
    with pytest.raises(KafkaError) as caught:
        list(iter_batches(memoryview(bytes(200))))
    assert caught.value.code is ErrorCode.CORRUPT_MESSAGE


def test_records_that_unpack_to_more_than_allowed_are_refused() -> None:
    batch = memoryview(encode_batch([Record(0, 1, None, bytes(1 << 20))], codec=Codec.ZSTD))
    with pytest.raises(KafkaError) as caught:
        list(iter_records(read_header(batch), batch, max_bytes=1 << 16))
    assert caught.value.code is ErrorCode.INVALID_RECORD


def test_a_time_past_the_last_goes_round_and_an_impossible_number_is_refused() -> None:
    batch = memoryview(encode_batch([Record(0, 10, None, b"v"), Record(1, 12, None, b"v")]))
    header = read_header(batch)._replace(base_timestamp=2**63 - 1)
    assert [each.timestamp_ms for each in iter_records(header, batch)] == [2**63 - 1, -(2**63) + 1]
    body = bytearray(b"\x00\x00")
    write_varint(body, 2**40)
    body += b"\x01\x01\x00"
    numbered = bytearray(bytes(HEADER_BYTES))
    write_varint(numbered, len(body))
    numbered += body
    header = header._replace(length=len(numbered) - LENGTH_OVERHEAD_BYTES, count=1)
    with pytest.raises(KafkaError, match="cannot be numbered"):
        list(iter_records(header, memoryview(numbered)))
