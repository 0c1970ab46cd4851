from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from monitoring.history.level_choice import LevelRange, add_coarser, choose_levels
from monitoring.history.levels import DAY, DAY_MS, HOUR, HOUR_MS, LEVELS, MINUTE, MINUTE_MS, RAW

START = 20_000 * DAY_MS


def times(from_ms, to_ms, step_ms):
    return np.arange(from_ms, to_ms, step_ms)


def hour_of(number, step_ms):
    return times(START + number * HOUR_MS, START + (number + 1) * HOUR_MS, step_ms)


def in_order(buckets):
    """The times of each level, as `choose_levels` asks for them."""

    def of(level, from_ms, to_ms):
        found = buckets.get(level, np.empty(0, np.int64))
        return found[(found >= from_ms) & (found < to_ms)]

    return of


def test_finished_hours_are_read_from_the_coarse_level_and_the_newest_from_ticks():
    buckets = {
        RAW: times(START, START + 3 * HOUR_MS, 5000),
        MINUTE: times(START, START + 2 * HOUR_MS, MINUTE_MS),
    }
    found = choose_levels(START, START + 3 * HOUR_MS, in_order(buckets), MINUTE)
    assert found == [
        LevelRange(MINUTE, START, START + 2 * HOUR_MS),
        LevelRange(RAW, START + 2 * HOUR_MS, START + 3 * HOUR_MS),
    ]


def test_the_ends_of_a_range_are_read_from_finer_levels():
    buckets = {
        RAW: times(START, START + DAY_MS, 5000),
        MINUTE: times(START, START + DAY_MS, MINUTE_MS),
        HOUR: times(START, START + DAY_MS, HOUR_MS),
    }
    from_ms, to_ms = START + 30 * MINUTE_MS + 10_000, START + 5 * HOUR_MS + MINUTE_MS
    assert [(part.level.name, part.to_ms - part.from_ms) for part in choose_levels(
        from_ms, to_ms, in_order(buckets), HOUR
    )] == [
        ("raw", 50_000), ("minute", 29 * MINUTE_MS), ("hour", 4 * HOUR_MS), ("minute", MINUTE_MS),
    ]  # fmt: skip


def test_a_level_coarser_than_allowed_is_not_used():
    buckets = {DAY: times(START, START + 5 * DAY_MS, DAY_MS), HOUR: times(START, START, HOUR_MS)}
    assert choose_levels(START, START + DAY_MS, in_order(buckets), HOUR) == []
    assert choose_levels(START, START + DAY_MS, in_order(buckets), DAY) == [
        LevelRange(DAY, START, START + DAY_MS)
    ]


def test_ticks_that_have_expired_are_replaced_by_minutes():
    buckets = {
        RAW: times(START + HOUR_MS, START + 2 * HOUR_MS, 5000),
        MINUTE: times(START, START + 2 * HOUR_MS, MINUTE_MS),
    }
    from_ms, to_ms = START + 30 * MINUTE_MS + 10_000, START + 2 * HOUR_MS
    raw = choose_levels(from_ms, to_ms, in_order(buckets), RAW)
    assert raw == [LevelRange(RAW, START + HOUR_MS, to_ms)]
    found = add_coarser(raw, from_ms, to_ms, in_order(buckets), RAW)
    assert found == [LevelRange(MINUTE, from_ms, START + HOUR_MS), *raw]


def test_a_coarser_level_is_used_where_the_next_one_has_nothing():
    buckets = {MINUTE: hour_of(0, MINUTE_MS), HOUR: hour_of(1, HOUR_MS)}
    found = add_coarser([], START, START + 3 * HOUR_MS, in_order(buckets), RAW)
    assert found == [
        LevelRange(MINUTE, START, START + HOUR_MS),
        LevelRange(HOUR, START + HOUR_MS, START + 2 * HOUR_MS),
    ]


def test_hours_that_nothing_has_are_left_out():
    some = np.concatenate([
        times(START, START + HOUR_MS, MINUTE_MS),
        times(START + 3 * HOUR_MS, START + 4 * HOUR_MS, MINUTE_MS),
    ])  # fmt: skip
    found = choose_levels(START, START + 9 * HOUR_MS, in_order({MINUTE: some}), MINUTE)
    assert found == [
        LevelRange(MINUTE, START, START + HOUR_MS),
        LevelRange(MINUTE, START + 3 * HOUR_MS, START + 4 * HOUR_MS),
    ]


def test_a_finer_level_is_only_asked_for_what_the_coarser_ones_lack():
    asked = []
    days = in_order({HOUR: times(START, START + 2 * DAY_MS, HOUR_MS)})

    def times_of(level, from_ms, to_ms):
        asked.append((level, from_ms, to_ms))
        return days(level, from_ms, to_ms)

    choose_levels(START, START + 2 * DAY_MS + 1000, times_of, HOUR)
    last = (START + 2 * DAY_MS, START + 2 * DAY_MS + 1000)
    assert asked == [(HOUR, START, last[1]), (MINUTE, *last), (RAW, *last)]


hours = st.sets(st.integers(0, 71), max_size=40)


@given(st.tuples(hours, hours, hours), st.integers(0, 72 * 60), st.integers(0, 72 * 60),
       st.sampled_from(LEVELS))  # fmt: skip
def test_no_time_is_read_twice_and_none_that_a_level_has_is_missing(having, a, b, coarsest):
    from_ms, to_ms = START + min(a, b) * MINUTE_MS, START + max(a, b) * MINUTE_MS
    steps = {RAW: 5000, MINUTE: MINUTE_MS, HOUR: HOUR_MS}
    buckets = {
        level: np.concatenate([
            np.empty(0, np.int64),
            *(hour_of(number, steps[level]) for number in sorted(some)),
        ]).astype(np.int64)
        for level, some in zip(steps, having, strict=True)
    }  # fmt: skip
    parts = choose_levels(from_ms, to_ms, in_order(buckets), coarsest)
    assert all(part.from_ms < part.to_ms for part in parts)
    assert all(a.to_ms <= b.from_ms for a, b in pairwise(parts))
    for minute in range(from_ms, to_ms, MINUTE_MS):
        hour = (minute - START) // HOUR_MS
        levels = [level for level, some in zip(steps, having, strict=True) if hour in some]
        fine = [level for level in levels if level in (RAW, MINUTE)]
        if any(LEVELS.index(level) <= LEVELS.index(coarsest) for level in fine):
            assert any(part.from_ms <= minute < part.to_ms for part in parts)
