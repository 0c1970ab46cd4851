"""The records of `__transaction_state`; that Kafka reads them alike is said in the dump tool's."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokerd.coordinator.transaction.transaction_log import (
    STATES,
    TransactionValue,
    decode_key,
    decode_value,
)

int16 = st.integers(-(2**15), 2**15 - 1)
int32 = st.integers(-(2**31), 2**31 - 1)
int64 = st.integers(-(2**63), 2**63 - 1)
values = st.builds(
    TransactionValue,
    producer_id=int64,
    producer_epoch=int16,
    timeout_ms=int32,
    state=st.sampled_from(STATES),
    partitions=st.none()
    | st.lists(
        st.tuples(st.text(max_size=9), st.lists(int32, max_size=4).map(tuple)), max_size=4
    ).map(tuple),
    updated_at_ms=int64,
    started_at_ms=int64,
)


def text(string: str) -> bytes:
    data = string.encode()
    return struct.pack(">h", len(data)) + data


def written(value: TransactionValue) -> bytes:
    head = struct.pack(
        ">hqhib", 0, value.producer_id, value.producer_epoch, value.timeout_ms,
        STATES.index(value.state),
    )  # fmt: skip
    topics = [
        text(topic) + struct.pack(f">i{len(indexes)}i", len(indexes), *indexes)
        for topic, indexes in value.partitions or ()
    ]
    count = -1 if value.partitions is None else len(topics)
    times = struct.pack(">qq", value.updated_at_ms, value.started_at_ms)
    return head + struct.pack(">i", count) + b"".join(topics) + times


@given(values)
def test_a_value_reads_back_as_it_was_written(value: TransactionValue) -> None:
    assert decode_value(written(value)) == value


@given(st.text(max_size=20))
def test_a_key_is_the_transactional_id(name: str) -> None:
    assert decode_key(b"\0\0" + text(name)) == name
    assert decode_key(b"\0\1" + text(name)) is None


@given(values, st.data())
def test_a_value_that_ends_early_is_refused(value: TransactionValue, data: st.DataObject) -> None:
    whole = written(value)
    with pytest.raises(ValueError, match="ends early"):
        decode_value(whole[: data.draw(st.integers(0, len(whole) - 1))])


def test_other_versions_are_refused() -> None:
    whole = bytearray(written(TransactionValue(1, 2, 3, "Empty", None, 4, 5)))
    for position, byte in ((1, 7), (16, 99)):
        with pytest.raises(ValueError, match=r"version 7|99 is no state"):
            decode_value(bytes(whole[:position]) + bytes([byte]) + bytes(whole[position + 1 :]))
