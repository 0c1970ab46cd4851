import pytest

from console.ui import times


@pytest.mark.parametrize("write", [times.moment, times.duration])
def test_an_unknown_time_is_never_shown_as_zero(write):
    assert write(None) == "—"


@pytest.mark.parametrize("at_ms", [-1, 1_700_000_000_000_000, 2**63 - 1])
def test_a_timestamp_that_no_calendar_has_is_unknown(at_ms):
    assert times.moment(at_ms) == "—"
    assert times.moment(253_402_300_799_999) == "9999-12-31 23:59:59 UTC"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-3, "now"), (0, "now"), (5, "5 s ago"), (119, "119 s ago"), (150, "2 min ago"),
     (7300, "2 h ago"), (200_000, "2 days ago")],
)  # fmt: skip
def test_an_age_is_written_in_one_unit(seconds, text):
    assert times.age(1_000_000_000, 1_000_000_000 + seconds * 1000) == text
