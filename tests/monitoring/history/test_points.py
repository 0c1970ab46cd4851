"""The points of charts."""

import numpy as np
import pytest

from monitoring.history.levels import DAY_MS, HOUR, HOUR_MS, MINUTE, MINUTE_MS, RAW
from monitoring.history.points import Points, level_for, step_for, total

NAN = float("nan")


def points(*mean, low=None, high=None):
    low, mean, high = (np.array(mean if v is None else v, float) for v in (low, None, high))
    return Points(np.arange(len(mean)), 1, low, mean, high, float(mean[-1]))


def test_a_sum_is_unknown_where_a_part_is_unknown_between_its_values():
    found = total([points(1, 2, 3, 4), points(10, NAN, 30, 40)])
    assert np.array_equal(found.mean, [11, NAN, 33, 44], equal_nan=True)
    assert found.amount == 44


def test_a_part_that_begins_or_ends_is_no_part_before_and_behind():
    found = total([points(1, 2, 3, NAN), points(NAN, NAN, 30, NAN), points(NAN, NAN, NAN, NAN)])
    assert np.array_equal(found.mean, [1, 2, 33, NAN], equal_nan=True)


def test_the_highest_of_a_sum_is_what_it_reached_at_least():
    quiet, peak = points(5, 5, low=[2, 2], high=[7, 7]), points(10, 9, low=[8, 4], high=[12, 600])
    found = total([quiet, peak])
    assert np.array_equal(found.high, [15, 602])  # the second, while the first had at least 2
    assert np.array_equal(found.low, [14, 11])
    assert found.is_sum


def test_the_highest_and_lowest_of_one_part_are_its_own():
    found = total([points(5, NAN, 3, low=[1, NAN, 2], high=[9, NAN, 4])])
    assert np.array_equal(found.low, [1, NAN, 2], equal_nan=True)
    assert np.array_equal(found.high, [9, NAN, 4], equal_nan=True)
    assert not found.is_sum


@pytest.mark.parametrize("points_max", [400, 600, 1200, 2000])
@pytest.mark.parametrize("range_ms", [15 * MINUTE_MS, HOUR_MS, DAY_MS, 7 * DAY_MS, 90 * DAY_MS])
def test_a_range_has_no_more_points_than_asked_for(range_ms, points_max):
    assert range_ms / step_for(range_ms, points_max, 5000) <= points_max


@pytest.mark.parametrize(("range_ms", "points_max", "level"), [
    (HOUR_MS, 2000, RAW), (6 * HOUR_MS, 600, MINUTE), (6 * HOUR_MS, 2000, MINUTE),
    (DAY_MS, 600, MINUTE), (DAY_MS, 2000, MINUTE), (7 * DAY_MS, 2000, MINUTE),
    (30 * DAY_MS, 600, HOUR), (30 * DAY_MS, 2000, HOUR), (90 * DAY_MS, 2000, HOUR),
])  # fmt: skip
def test_the_level_follows_from_range_and_points(range_ms, points_max, level):
    assert level_for(step_for(range_ms, points_max, 5000)) is level
