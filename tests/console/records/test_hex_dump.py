"""The hex dump."""

from console.records.hex_dump import DUMPED_BYTES_MAX, hex_dump


def test_a_line_has_offset_bytes_and_characters():
    assert hex_dump(b"abc\x00") == "00000000  61 62 63 00" + " " * 36 + "  abc."
    assert hex_dump(bytes(17)).splitlines()[1].startswith("00000010  00 ")
    assert hex_dump(b"") == ""


def test_only_the_first_bytes_are_dumped():
    assert len(hex_dump(bytes(2 * DUMPED_BYTES_MAX)).splitlines()) == DUMPED_BYTES_MAX // 16
