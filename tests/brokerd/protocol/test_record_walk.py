"""Records are walked as they would be decoded, without being decoded."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokerd.errors import ErrorCode, KafkaError
from brokerd.protocol.record_walk import (
    REPORTED_MAX,
    RefusedRecords,
    Rules,
    first_at_or_after,
    walk_records,
)
from brokerd.protocol.records import (
    HEADER_BYTES,
    LOG_APPEND_TIME,
    BatchHeader,
    Record,
    encode_batch,
    iter_records,
    read_header,
)

NOW_MS = 1_700_000_000_000
PLAIN = Rules()

some_bytes = st.none() | st.binary(max_size=300)
some_records = st.lists(
    st.builds(
        Record,
        offset=st.just(0),
        timestamp_ms=st.integers(-1, 2**41),
        key=some_bytes,
        value=some_bytes | st.just(bytes(9_000)),
        headers=st.lists(st.tuples(st.text(max_size=8), some_bytes), max_size=3).map(tuple),
    ),
    min_size=1,
    max_size=80,
)


def packed(records: Sequence[Record]) -> tuple[BatchHeader, bytearray]:
    """The header of a batch and its bytes."""
    batch = encode_batch(records)
    return read_header(batch), batch


def walked(header: BatchHeader, data: bytes | bytearray, rules: Rules = PLAIN) -> int:
    return walk_records(header, memoryview(data), rules)


def record(at_ms: int = NOW_MS, key: bytes | None = b"k") -> Record:
    return Record(0, at_ms, key, b"v")


@given(some_records)
def test_sound_records_pass_and_the_largest_timestamp_is_found(records: list[Record]) -> None:
    header, batch = packed(records)
    largest_ms = max(each.timestamp_ms for each in records)
    assert walked(header, batch[HEADER_BYTES:]) == largest_ms


@given(some_records, st.data())
def test_what_decoding_refuses_is_refused_and_nothing_else(
    records: list[Record], data: st.DataObject
) -> None:
    header, batch = packed(records[:5])
    at = data.draw(st.integers(HEADER_BYTES, len(batch) - 1))
    batch[at] = data.draw(st.integers(0, 255))
    try:
        offsets = [each.offset for each in iter_records(header, memoryview(batch))]
    except KafkaError:
        offsets = []
    if offsets == list(range(header.count)):
        walked(header, batch[HEADER_BYTES:])
    else:
        with pytest.raises(KafkaError) as caught:
            walked(header, batch[HEADER_BYTES:])
        assert caught.value.code is ErrorCode.INVALID_RECORD


@given(st.binary(max_size=200), st.integers(1, 5))
def test_garbage_is_an_invalid_record(data: bytes, count: int) -> None:
    header = packed([record()])[0]._replace(count=count)
    with pytest.raises(KafkaError) as caught:
        walked(header, b"\x01" + data)
    assert caught.value.code is ErrorCode.INVALID_RECORD


def test_records_without_a_key_are_named_one_by_one() -> None:
    header, batch = packed([record(), record(key=None), record(key=b""), record(key=None)])
    rules = Rules(needs_key=True, topic_partition="t-3")
    with pytest.raises(RefusedRecords) as caught:
        walked(header, batch[HEADER_BYTES:], rules)
    assert caught.value.code is ErrorCode.INVALID_RECORD
    why = "Compacted topic cannot accept message without key in topic partition t-3"
    assert caught.value.records == [(1, why), (3, why)]


def test_records_out_of_time_are_named_one_by_one() -> None:
    times = [NOW_MS, NOW_MS - 11, NOW_MS - 10, NOW_MS + 5, NOW_MS + 6, -1]
    header, batch = packed([record(at_ms) for at_ms in times])
    rules = Rules(limits_ms=(NOW_MS - 10, NOW_MS + 5))
    with pytest.raises(RefusedRecords) as caught:
        walked(header, batch[HEADER_BYTES:], rules)
    assert caught.value.code is ErrorCode.INVALID_TIMESTAMP
    assert [index for index, _ in caught.value.records] == [1, 4]


def test_a_producer_is_not_told_of_more_records_than_it_can_read() -> None:
    header, batch = packed([record(key=None)] * (REPORTED_MAX + 50))
    with pytest.raises(RefusedRecords) as caught:
        walked(header, batch[HEADER_BYTES:], Rules(needs_key=True))
    assert len(caught.value.records) == REPORTED_MAX
    assert f"due to {REPORTED_MAX + 50} record errors" in caught.value.message


@pytest.mark.parametrize("base_ms", [2**63 - 1, 2**63 - 5])
def test_a_time_that_no_int64_holds_is_refused(base_ms: int) -> None:
    header, batch = packed([record(NOW_MS), record(NOW_MS + 7)])
    with pytest.raises(KafkaError) as caught:
        walked(header._replace(base_timestamp=base_ms), batch[HEADER_BYTES:])
    assert caught.value.code is ErrorCode.INVALID_TIMESTAMP
    assert walked(header._replace(base_timestamp=2**63 - 8), batch[HEADER_BYTES:]) == 2**63 - 1


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


@given(some_records, st.data())
def test_a_search_for_a_time_stops_where_records_cannot_follow(
    records: list[Record], data: st.DataObject
) -> None:
    header, batch = packed(records)
    late_ms = header.max_timestamp + 1
    cut = data.draw(st.integers(HEADER_BYTES, len(batch) - 1))
    for lying in (batch[HEADER_BYTES:cut], batch[HEADER_BYTES:] + b"\0"):
        with pytest.raises(KafkaError) as raised:
            first_at_or_after(header, memoryview(lying), late_ms, 0)
        assert raised.value.code == ErrorCode.INVALID_RECORD
