"""A record is found by its time as in records that are decoded."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokerd.errors import ErrorCode, KafkaError
from brokerd.protocol.record_by_timestamp import first_at_or_after
from brokerd.protocol.records import (
    HEADER_BYTES,
    LOG_APPEND_TIME,
    Record,
    encode_batch,
    iter_records,
    read_header,
)
from tests.brokerd.protocol.generated_records import records_of_many_sizes

around = [-1, 0, 1, 63, 64, 65, 8191, 8192, 8193, 2**20 - 1, 2**20, 2**20 + 1, 2**31, 2**40]
some_times = st.sampled_from(around) | st.integers(-(2**63), 2**63 - 1)


@given(
    base_ms=some_times,
    deltas=st.lists(some_times, max_size=40),
    value=st.sampled_from([None, b"v", bytes(100), bytes(9000)]),
    wanted_ms=some_times,
    is_delta=st.booleans(),
    min_offset=st.integers(0, 50),
    attributes=st.sampled_from([0, LOG_APPEND_TIME]),
)
def test_the_first_record_of_a_time_is_found_as_in_records_that_are_decoded(
    base_ms: int, deltas: list[int], value: bytes | None, wanted_ms: int, is_delta: bool,
    min_offset: int, attributes: int,
) -> None:  # fmt: skip
    times = [base_ms, *(min(max(base_ms + delta, -(2**63)), 2**63 - 1) for delta in deltas)]
    batch = encode_batch(
        [Record(0, at, None, value) for at in times], base_offset=10, attributes=attributes
    )
    header = read_header(batch)
    if is_delta and -(2**63) <= base_ms + wanted_ms < 2**63:
        wanted_ms += base_ms
    expected = next(
        (
            (each.offset, each.timestamp_ms)
            for each in iter_records(header, memoryview(batch))
            if each.timestamp_ms >= wanted_ms and each.offset >= min_offset
        ),
        None,
    )
    data = memoryview(batch)[HEADER_BYTES:]
    assert first_at_or_after(header, data, wanted_ms, min_offset) == expected


@given(records_of_many_sizes, st.data())
def test_a_search_for_a_time_stops_where_records_cannot_follow(
    records: list[Record], data: st.DataObject
) -> None:
    batch = encode_batch(records)
    header = read_header(batch)
    late_ms = header.max_timestamp + 1
    cut = data.draw(st.integers(HEADER_BYTES, len(batch) - 1))
    for lying in (batch[HEADER_BYTES:cut], batch[HEADER_BYTES:] + b"\0"):
        with pytest.raises(KafkaError) as raised:
            first_at_or_after(header, memoryview(lying), late_ms, 0)
        assert raised.value.code == ErrorCode.INVALID_RECORD
