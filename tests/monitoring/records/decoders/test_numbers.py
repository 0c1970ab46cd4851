"""Numbers and UUIDs."""

import struct
import uuid

import pytest

from monitoring.records.decoders.encodings import DECODERS


@pytest.mark.parametrize(
    ("encoding", "layout", "value"),
    [
        ("int16", ">h", -2), ("int32", ">i", 2**31 - 1), ("int64", ">q", -(2**63)),
        ("float32", ">f", 0.5), ("float64", ">d", 0.1),
    ],
)  # fmt: skip
def test_numbers_are_big_endian_and_have_a_fixed_size(encoding, layout, value):
    assert DECODERS[encoding](struct.pack(layout, value)) == str(value)
    with pytest.raises(ValueError, match="it has 3 bytes"):
        DECODERS[encoding](b"abc")


def test_a_uuid_has_16_bytes_or_36_characters():
    value = uuid.uuid4()
    assert DECODERS["uuid"](value.bytes) == DECODERS["uuid"](str(value).encode()) == str(value)
    with pytest.raises(ValueError, match="not 16"):
        DECODERS["uuid"](b"x")
    with pytest.raises(ValueError, match="codec can't decode"):
        DECODERS["uuid"](b"\xff" * 36)
