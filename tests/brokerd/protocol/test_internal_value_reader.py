"""Values of internal topics: read in order, and refused where they end early."""

from collections.abc import Callable
from struct import Struct

import pytest

from brokerd.protocol.internal_value_reader import ValueReader

WRITTEN = b"\xff\xfe\x00\x00\x00\x07" + bytes(7) + b"\x09" + b"\x00\x02ab\x00\x00\x00\x01z"


def test_what_was_written_is_read_in_order() -> None:
    reader = ValueReader(WRITTEN)
    read = (reader.int16(), reader.int32(), reader.int64(), reader.string(), reader.bytes())
    assert read == (-2, 7, 9, "ab", b"z")
    assert ValueReader(WRITTEN).numbers(Struct(">hiq")) == (-2, 7, 9)


def test_null_reads_as_empty_where_it_has_no_meaning_of_its_own() -> None:
    assert ValueReader(b"\xff\xff").nullable_string() is None
    assert ValueReader(b"\xff\xff").string() == ""
    assert ValueReader(b"\xff\xff\xff\xff").bytes() == b""


@pytest.mark.parametrize(
    ("data", "read"),
    [
        (b"\x00", ValueReader.int16),
        (b"\x00\x02a", ValueReader.string),
        (b"\xff\xfe", ValueReader.string),
        (b"\x00\x00\x00\x02a", ValueReader.bytes),
        (b"\xff\xff\xff\xfe", ValueReader.bytes),
    ],
)
def test_what_ends_early_is_refused(data: bytes, read: Callable[[ValueReader], object]) -> None:
    with pytest.raises(ValueError, match="ends early"):
        read(ValueReader(data))
