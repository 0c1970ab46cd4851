"""The histogram."""

from brokerd.metrics import Histogram


def test_values_are_counted_below_their_bound() -> None:
    histogram = Histogram((1, 10))
    for value in (0.5, 1, 2, 50):
        histogram.add(value)
    assert histogram.counts == [2, 1, 1]
    assert (histogram.count, histogram.total) == (4, 53.5)


def test_a_value_can_be_taken_in_many_times_at_once() -> None:
    histogram = Histogram((1,))
    histogram.add(0.5, 40)
    assert (histogram.counts, histogram.count, histogram.total) == ([40, 0], 40, 20.0)
