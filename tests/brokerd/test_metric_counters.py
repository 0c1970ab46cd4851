"""The histogram, and what is noted of the loop."""

from brokerd.metric_counters import PRODUCERS_S, Histogram, LoopTimes


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


def test_there_are_producers_for_a_while_after_something_was_produced() -> None:
    loop = LoopTimes()
    assert not loop.has_producers
    loop.produced_s = loop.woke_s = 10.0
    assert loop.has_producers
    loop.woke_s += 2 * PRODUCERS_S
    assert not loop.has_producers
