import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitoring.history.hours import HOUR_MS, end_ms, hour_of, start_ms


@given(st.integers(0, 4_000_000_000_000))
def test_every_time_is_within_its_hour(at_ms):
    hour = hour_of(at_ms)
    assert start_ms(hour) <= at_ms < end_ms(hour) == start_ms(hour) + HOUR_MS


def test_hours_are_utc_and_sortable_as_text():
    assert hour_of(1_767_225_600_000) == "2026010100"
    assert hour_of(1_767_225_599_999) == "2025123123"


def test_an_invalid_hour_is_refused():
    with pytest.raises(ValueError, match="2026"):
        start_ms("2026-01-01")
