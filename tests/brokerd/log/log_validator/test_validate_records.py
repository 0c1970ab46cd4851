"""Records are checked as if they were decoded, without being decoded."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokerd.errors import ErrorCode, KafkaError
from brokerd.log.log_validator.validate_records import (
    REPORTED_MAX,
    RefusedRecords,
    Rules,
    validate_records,
)
from brokerd.protocol.records import (
    HEADER_BYTES,
    BatchHeader,
    Record,
    encode_batch,
    iter_records,
    read_header,
)
from tests.brokerd.protocol.generated_records import records_of_many_sizes

NOW_MS = 1_700_000_000_000
PLAIN = Rules()


def packed(records: Sequence[Record]) -> tuple[BatchHeader, bytearray]:
    """The header of a batch and its bytes."""
    batch = encode_batch(records)
    return read_header(batch), batch


def walked(header: BatchHeader, data: bytes | bytearray, rules: Rules = PLAIN) -> int:
    return validate_records(header, memoryview(data), rules)


def record(at_ms: int = NOW_MS, key: bytes | None = b"k") -> Record:
    return Record(0, at_ms, key, b"v")


@given(records_of_many_sizes)
def test_sound_records_pass_and_the_largest_timestamp_is_found(records: list[Record]) -> None:
    header, batch = packed(records)
    largest_ms = max(each.timestamp_ms for each in records)
    assert walked(header, batch[HEADER_BYTES:]) == largest_ms


@given(records_of_many_sizes, st.data())
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
