import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitoring.history.levels import DAY, DAY_MS, HOUR, HOUR_MS, LEVELS, MINUTE, RAW

TIMES = st.integers(0, 4_102_444_800_000)


@given(TIMES, st.sampled_from(LEVELS))
def test_each_time_is_within_its_span(at_ms, level):
    span = level.span_of(at_ms)
    assert level.span_start_ms(span) <= at_ms < level.span_end_ms(span)
    assert level.span_of(level.span_end_ms(span)) != span


@given(TIMES)
def test_the_spans_are_an_hour_a_day_a_month_and_a_year(at_ms):
    lengths = [
        level.span_end_ms(level.span_of(at_ms)) - level.span_start_ms(level.span_of(at_ms))
        for level in (RAW, MINUTE, HOUR, DAY)
    ]
    assert lengths[:2] == [HOUR_MS, DAY_MS]
    assert lengths[2] in [days * DAY_MS for days in (28, 29, 30, 31)]
    assert lengths[3] in [365 * DAY_MS, 366 * DAY_MS]


def test_spans_are_in_utc():
    assert RAW.span_of(1_767_225_600_000) == "2026010100"
    assert RAW.span_of(1_767_225_599_999) == "2025123123"
    assert [level.span_of(1_767_225_599_999) for level in (MINUTE, HOUR, DAY)] == [
        "20251231", "202512", "2025"
    ]  # fmt: skip


@pytest.mark.parametrize("span", ["", "2026", "2026013", "202601010", "20261301", "2026010100x"])
def test_a_span_of_another_shape_is_refused(span):
    assert not MINUTE.is_span(span)
