"""Rates and times of requests, since the start and between two readings."""

import math

import pytest

from monitoring.request_metrics.counters import ApiCounters, Distribution, Reading
from monitoring.request_metrics.figures_between_readings import ApiRow, figures_between
from tests.monitoring.request_metrics.metrics_of_kafka import kafka_text
from tests.monitoring.request_metrics.test_counters import of_text

STARTED_MS = 1_700_000_000_000


def at(seconds: float) -> int:
    return STARTED_MS + round(seconds * 1000)


def histogram(counts: dict[float, float], total: float) -> Reading:
    """After requests with these counts up to each bound."""
    times = Distribution(max(counts.values()), total, None, counts)
    api = ApiCounters(times.count, 0.0, Distribution(times.count, 1000 * times.count))
    api.times_ms["total"] = times
    return Reading(at(times.count), STARTED_MS, {"Fetch": api})


def only(now: Reading, before: Reading | None = None) -> ApiRow:
    [row] = figures_between(now, before).rows
    return row


def test_one_reading_gives_figures_since_the_start():
    found = figures_between(of_text(kafka_text(100), at(50)), None)
    [row] = found.rows
    assert (found.is_since_start, found.from_ms, found.seconds) == (True, STARTED_MS, 50)
    assert (row.api, row.requests, row.errors, row.bytes_in) == ("Produce", 2, 0.2, None)
    assert (row.times["total"].mean, row.times["total"].p50, row.times["total"].p99) == (
        None,
        2,
        40,
    )


def test_two_readings_give_figures_of_the_time_between():
    before, now = of_text(kafka_text(100), at(50)), of_text(kafka_text(400), at(60))
    found = figures_between(now, before)
    assert (found.is_since_start, found.from_ms, found.seconds) == (False, at(50), 10)
    assert (found.rows[0].requests, found.rows[0].errors) == (30, 3)


def test_means_are_of_the_requests_between_the_readings():
    before, now = of_text(kafka_text(100, mean=True), at(50)), of_text(kafka_text(200), at(60))
    now.apis["Produce"].times_ms["total"].mean = 4.0
    assert only(now, before).times["total"].mean == pytest.approx(5.5)


def test_what_was_not_counted_before_is_unknown_until_the_next_reading():
    before, now = of_text(kafka_text(100), at(50)), of_text(kafka_text(200, mean=True), at(60))
    row = only(now, before)
    assert (row.requests, row.times["total"].mean) == (10, None)


def test_an_api_that_was_first_used_in_between_counts_from_zero():
    before = Reading(at(50), STARTED_MS, {})
    assert only(of_text(kafka_text(100, mean=True), at(60)), before).requests == 10


def test_an_api_without_requests_in_between_has_no_times():
    before, now = of_text(kafka_text(100), at(50)), of_text(kafka_text(100), at(60))
    row = only(now, before)
    assert (row.requests, row.errors, row.times["total"].p99) == (0, 0, None)


@pytest.mark.parametrize("later", [{"produced": 99}, {"produced": 400, "started_s": 1_700_000_055}])
def test_a_restart_begins_anew(later):
    found = figures_between(of_text(kafka_text(**later), at(60)), of_text(kafka_text(100), at(50)))
    assert found.is_since_start


def test_rates_since_an_unknown_start_are_unknown():
    found = figures_between(of_text(kafka_text(100, started_s=None), at(60)), None)
    assert (found.from_ms, found.rows[0].requests, found.rows[0].errors) == (None, None, None)
    assert found.rows[0].times["total"].p99 == 40


def test_percentiles_of_a_histogram_lie_within_their_bucket():
    row = only(histogram({1.0: 50, 2.0: 90, 10.0: 100, math.inf: 100}, 200))
    times = row.times["total"]
    assert (times.mean, times.p50, times.p99) == (2.0, 1.0, pytest.approx(9.2))
    assert row.bytes_in == 1000


def test_percentiles_between_readings_are_of_the_new_requests_only():
    before = histogram({1.0: 100, 2.0: 100, 10.0: 100, math.inf: 100}, 50)
    now = histogram({1.0: 100, 2.0: 200, 10.0: 200, math.inf: 200}, 200)
    times = only(now, before).times["total"]
    assert (times.mean, times.p50, times.p99) == (1.5, 1.5, pytest.approx(1.99))


def test_a_percentile_above_all_bounds_is_the_last_one_and_one_below_the_first():
    times = only(histogram({1.0: 1, 10.0: 2, math.inf: 100}, 9000)).times["total"]
    assert (times.p50, times.p99, times.last_ms) == (10, 10, 10)
    times = only(histogram({1.0: 90, 10.0: 90, math.inf: 100}, 9000)).times["total"]
    assert (times.p50, times.p99, times.first_ms) == (1, 10, 1)


def test_of_requests_that_never_waited_the_percentiles_of_the_wait_are_zero():
    counted = histogram({1.0: 9, math.inf: 9}, 5)
    counted.apis["Fetch"].times_ms["remote"] = Distribution(9, 0.0, None, {1.0: 9, math.inf: 9})
    remote = only(counted).times["remote"]
    assert (remote.mean, remote.p50, remote.p99) == (0, 0, 0)


def test_requests_of_which_none_was_measured_have_no_times():
    counted = histogram({1.0: 3, math.inf: 3}, 0)
    row = only(counted)
    assert row.requests == 1
    assert row.times["total"].mean is row.times["total"].p99 is row.times["queue"].mean is None
