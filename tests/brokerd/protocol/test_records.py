"""Record batches: round trips, refusals, and an independent implementation on the other side."""

import struct

import pytest
from aiokafka.record.default_records import DefaultRecordBatch, DefaultRecordBatchBuilder
from hypothesis import given
from hypothesis import strategies as st

from brokerd.errors import ErrorCode, KafkaError
from brokerd.log.log_validator.validate_size_and_crc import validate_batch
from brokerd.protocol.compression import Codec
from brokerd.protocol.records import (
    HEADER,
    HEADER_BYTES,
    LENGTH_OVERHEAD_BYTES,
    Record,
    crc_matches,
    encode_batch,
    iter_batches,
    iter_records,
    read_header,
)
from brokerd.protocol.varint import write_varint
from tests.brokerd.protocol.generated_records import codecs, some_records


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
    got = list(iter_records(validate_batch(data, 1 << 24), data))
    assert [r[1:] for r in got] == [r[1:] for r in records]


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
