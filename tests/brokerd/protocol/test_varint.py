"""Signed and unsigned varints."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokerd.errors import ErrorCode, KafkaError
from brokerd.protocol.schema_writer import write_uvarint
from brokerd.protocol.varint import read_uvarint, read_varint, write_varint


@given(st.integers(-(2**63), 2**63 - 1), st.binary(max_size=3))
def test_a_number_comes_back(value: int, tail: bytes) -> None:
    out = bytearray()
    write_varint(out, value)
    assert read_varint(bytes(out) + tail, 0) == (value, len(out))


@pytest.mark.parametrize(
    ("value", "encoded"),
    [(0, "00"), (-1, "01"), (1, "02"), (63, "7e"), (-64, "7f"), (64, "8001"), (300, "d804")],
)
def test_the_bytes_are_as_specified(value: int, encoded: str) -> None:
    out = bytearray()
    write_varint(out, value)
    assert out.hex() == encoded


@pytest.mark.parametrize("data", [b"", b"\x80", b"\xff" * 9, b"\x80" * 11])
def test_a_number_without_an_end_is_refused(data: bytes) -> None:
    with pytest.raises(KafkaError) as caught:
        read_varint(data, 0)
    assert caught.value.code is ErrorCode.INVALID_RECORD


@given(st.integers(0, 2**32 - 1))
def test_an_unsigned_number_comes_back(value: int) -> None:
    out = bytearray()
    write_uvarint(out, value)
    assert read_uvarint(memoryview(out), 0) == (value, len(out))


@pytest.mark.parametrize("data", [b"", b"\x80", b"\xff\xff\xff\xff\xff\xff"])
def test_an_unsigned_number_without_an_end_is_refused(data: bytes) -> None:
    with pytest.raises(KafkaError) as caught:
        read_uvarint(memoryview(data), 0)
    assert caught.value.code is ErrorCode.INVALID_REQUEST
