"""Records as columns: the same as one by one, and batches that lie are found out."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokerd.errors import KafkaError
from brokerd.log.cleaner.records_as_columns import RecordTable, StoredBatch, read_varints, tables
from brokerd.protocol.records import (
    HEADER_BYTES,
    Record,
    encode_batch,
    iter_records,
    read_header,
    write_crc,
)
from brokerd.protocol.varint import write_varint

maybe_bytes = st.none() | st.binary(max_size=300)
some_records = st.lists(
    st.builds(
        Record, st.just(0), st.integers(0, 2**45), maybe_bytes, maybe_bytes,
        st.just(()) | st.just((("h", b"1"), ("g", None))),
    ), min_size=1, max_size=20,
)  # fmt: skip


def stored(data: bytearray) -> StoredBatch:
    return StoredBatch(read_header(data), memoryview(data))


def one_table(batches: list[StoredBatch]) -> RecordTable:
    ((_, table),) = tables(batches)
    return table


@given(st.lists(st.tuples(some_records, st.integers(0, 4)), min_size=1, max_size=4))
def test_the_columns_say_what_the_records_say(made: list[tuple[list[Record], int]]) -> None:
    batches = []
    base_offset = 100
    for each, codec in made:
        batches.append(stored(encode_batch(each, base_offset=base_offset, codec=codec)))
        base_offset += len(each) + 5
    table = one_table(batches)
    expected = [record for batch in batches for record in iter_records(*batch)]
    keys = [
        None if length < 0 else bytes(table.data[start : start + length])
        for start, length in zip(table.key_starts.tolist(), table.key_lengths.tolist(), strict=True)
    ]
    assert keys == [record.key for record in expected]
    assert table.offsets.tolist() == [record.offset for record in expected]
    assert table.timestamps.tolist() == [record.timestamp_ms for record in expected]
    assert table.has_value.tolist() == [record.value is not None for record in expected]
    assert [end - first for first, end in table.rows] == [len(each) for each, _ in made]


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1))
def test_varints_are_read_as_they_were_written(values: list[int]) -> None:
    data = bytearray()
    starts = []
    for value in values:
        starts.append(len(data))
        write_varint(data, value)
    array = np.frombuffer(data + bytes(16), np.uint8)
    found, following = read_varints(array, np.array(starts, np.int64))
    assert found.tolist() == values
    assert following.tolist() == [*starts[1:], len(data)]


@given(some_records, st.data())
def test_a_batch_with_any_byte_inside_changed_breaks_nothing_else(
    made: list[Record], draw: st.DataObject
) -> None:
    lying = encode_batch(made, base_offset=10)
    at = draw.draw(st.integers(HEADER_BYTES, len(lying) - 1))
    lying[at] = draw.draw(st.integers(0, 255))
    write_crc(lying)
    before, after = encode_batch(made), encode_batch(made, base_offset=50)
    try:
        table = one_table([stored(before), stored(lying), stored(after)])
    except KafkaError:  # named by the test below
        return
    (_, first_end), (_, second_end), (_, third_end) = table.rows
    assert table.offsets[:first_end].tolist() == list(range(len(made)))
    assert table.offsets[second_end:third_end].tolist() == list(range(50, 50 + len(made)))


def lying_count(batch: bytearray) -> None:
    struct.pack_into(">i", batch, 57, 2**31 - 1)


def lying_delta(batch: bytearray) -> None:
    struct.pack_into(">i", batch, 23, 0)


def flipped_crc(batch: bytearray) -> None:
    batch[-1] ^= 1


def unknown_codec(batch: bytearray) -> None:
    batch[22] |= 7


def not_compressed(batch: bytearray) -> None:
    batch[22] |= 4


@pytest.mark.parametrize(
    "lie", [lying_count, lying_delta, flipped_crc, unknown_codec, not_compressed]
)
def test_a_batch_that_lies_is_named(lie: object) -> None:
    batch = encode_batch([Record(0, 1, b"k", b"v"), Record(0, 1, b"l", b"w")])
    lie(batch)  # type: ignore[operator]
    if lie is not flipped_crc:
        write_crc(batch)
    with pytest.raises(KafkaError, match="the batch at offset 0 is damaged: "):
        one_table([stored(batch)])


def test_a_great_deal_of_records_comes_in_several_tables() -> None:
    large = [stored(encode_batch([Record(0, 1, b"k", bytes(3 << 20))], codec=4)) for _ in range(4)]
    found = list(tables(large))
    assert [len(batches) for batches, _ in found] == [1, 1, 1, 1]
