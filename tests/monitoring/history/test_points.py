"""The points of charts."""

import numpy as np

from monitoring.history.points import Points, total

NAN = float("nan")


def points(*mean):
    unknown = np.full(len(mean), NAN)
    return Points(np.arange(len(mean)), 1, unknown, np.array(mean, float), unknown, sum(mean[-1:]))


def test_a_sum_is_unknown_where_a_part_is_unknown_between_its_values():
    found = total([points(1, 2, 3, 4), points(10, NAN, 30, 40)])
    assert np.array_equal(found.mean, [11, NAN, 33, 44], equal_nan=True)
    assert found.amount == 44


def test_a_part_that_begins_or_ends_is_no_part_before_and_behind():
    found = total([points(1, 2, 3, NAN), points(NAN, NAN, 30, NAN), points(NAN, NAN, NAN, NAN)])
    assert np.array_equal(found.mean, [1, 2, 33, NAN], equal_nan=True)
