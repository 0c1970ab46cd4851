"""Durations and sizes with units: the plain number, how it was understood, what is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.ui.setting_units import (
    NUMBER_MAX,
    InvalidQuantity,
    Unit,
    conversion_of_lines,
    conversion_text,
    number_with_unit,
    plain_number,
    unit_of,
)

DAY_MS = 86_400_000


@pytest.mark.parametrize(
    ("text", "number", "said"),
    [
        ("7d", 7 * DAY_MS, "7 days = 604 800 000 ms"),
        ("1 day", DAY_MS, "1 day = 86 400 000 ms"),
        ("36h", 129_600_000, "36 h = 129 600 000 ms"),
        ("90 min", 5_400_000, "90 min = 5 400 000 ms"),
        ("1w", 7 * DAY_MS, "1 week = 604 800 000 ms"),
        (" 2 Weeks ", 14 * DAY_MS, "2 weeks = 1 209 600 000 ms"),
        ("1.5 h", 5_400_000, "1.5 h = 5 400 000 ms"),
        ("0.5d", 43_200_000, "0.5 days = 43 200 000 ms"),
        ("30 sec", 30_000, "30 s = 30 000 ms"),
        ("5 m", 300_000, "5 min = 300 000 ms"),
        ("250ms", 250, "250 ms = 250 ms"),
    ],
)
def test_durations(text, number, said):
    assert plain_number(text, Unit.MS) == str(number)
    assert number_with_unit(text, Unit.MS) == number
    assert conversion_text(text, Unit.MS).replace("\u202f", " ") == said


@pytest.mark.parametrize(
    ("text", "number", "said"),
    [
        ("1 GiB", 2**30, "1 GiB = 1 073 741 824 bytes"),
        ("500MB", 500_000_000, "500 MB = 500 000 000 bytes"),
        ("1.5 kib", 1536, "1.5 KiB = 1 536 bytes"),
        ("1 KB", 1000, "1 kB = 1 000 bytes"),
        ("2 TiB", 2**41, "2 TiB = 2 199 023 255 552 bytes"),
        ("12 bytes", 12, "12 B = 12 bytes"),
    ],
)
def test_sizes(text, number, said):
    assert plain_number(text, Unit.BYTES) == str(number)
    assert conversion_text(text, Unit.BYTES).replace("\u202f", " ") == said


@pytest.mark.parametrize("unit", Unit)
@pytest.mark.parametrize("text", ["", "0", "604800000", "-1", "-2", "+5", "9223372036854775807"])
def test_plain_numbers_stay_as_they_are(text, unit):
    assert plain_number(text, unit) == text
    assert conversion_text(text, unit) == ""


@pytest.mark.parametrize(
    "text", ["7 x", "7 y", "1 GiB", "d", "-1 d", "1d 2h", "1,5 h", "1e3 s", "٣ d", "1 d;", "soon"]
)
def test_what_is_no_duration_is_refused_with_an_example(text):
    with pytest.raises(InvalidQuantity, match=r"for example 7d, 36h or 90 min\.$"):
        plain_number(text, Unit.MS)
    with pytest.raises(InvalidQuantity):
        conversion_text(text, Unit.MS)


@pytest.mark.parametrize("text", ["7d", "1G", "1 Mbit", "GiB", "1 GiB/s", "-1 GiB"])
def test_what_is_no_size_is_refused_with_an_example(text):
    with pytest.raises(InvalidQuantity, match=r"for example 1 GiB or 500MB\.$"):
        plain_number(text, Unit.BYTES)


def test_parts_of_a_millisecond_or_byte_and_too_large_numbers_are_refused():
    for text, unit in (("0.0001 s", Unit.MS), ("0.3 KiB", Unit.BYTES)):
        with pytest.raises(InvalidQuantity, match="not a whole number"):
            plain_number(text, unit)
    with pytest.raises(InvalidQuantity, match="too large"):
        plain_number("9999999999999999 TiB", Unit.BYTES)


@given(st.text(max_size=30), st.sampled_from(Unit))
def test_any_text_is_a_number_or_refused(text, unit):
    try:
        number = plain_number(text, unit)
    except InvalidQuantity:
        number = ""
    assert number in ("", text.strip()) or 0 <= int(number) <= NUMBER_MAX


@pytest.mark.parametrize(
    ("name", "documentation", "unit"),
    [
        ("retention.ms", "", Unit.MS),
        ("log.segment.bytes", "", Unit.BYTES),
        ("cleanup.policy", "", None),
        ("log.cleaner.dedupe.buffer.size", "The total memory in bytes.", Unit.BYTES),
        ("leader.replication.throttled.rate", "The upper bound (bytes/sec).", Unit.BYTES),
        ("session.timeout", "The timeout in milliseconds.", Unit.MS),
        ("log.retention.hours", "In hours; see log.retention.ms in milliseconds.", None),
        ("", "", None),
    ],
)
def test_the_name_of_a_setting_or_its_documentation_says_the_unit(name, documentation, unit):
    assert unit_of(name, documentation) == unit


def test_lines_of_settings_are_understood_and_an_error_names_its_setting():
    text = "segment.ms = 10 min\ncleanup.policy=compact\nnonsense\nretention.ms=-1"
    assert conversion_of_lines(text).replace("\u202f", " ") == "segment.ms: 10 min = 600 000 ms"
    with pytest.raises(InvalidQuantity, match=r"^segment.bytes: “1G”"):
        conversion_of_lines("segment.bytes=1G")
