"""What a broker counted of its requests, from samples."""

import pytest

from monitoring.request_metrics.counters import PREFIXES, Reading, parse_reading
from monitoring.request_metrics.prometheus_parser import Sample, samples
from tests.monitoring.request_metrics.metrics_of_kafka import kafka_text

NAME = "kafka_network_requestmetrics_"


def of_text(text: str, at_ms: int = 1000) -> Reading:
    return parse_reading(samples(text, PREFIXES), at_ms)


def test_versions_of_an_api_are_added_and_the_error_none_is_no_error():
    found = of_text(kafka_text(100))
    produce = found.apis["Produce"]
    assert (produce.requests, produce.errors) == (100, 10)
    assert found.started_at_ms == 1_700_000_000_000


@pytest.mark.parametrize("count", ["_count", "_count_total"])
def test_times_of_kafka_have_quantiles_and_counts_but_no_total(count):
    total = of_text(kafka_text(100, count=count)).apis["Produce"].times_ms["total"]
    assert (total.count, total.total) == (100, None)
    assert (total.quantiles[0.5], total.quantiles[0.99]) == (2, 40)


def test_the_total_of_a_time_follows_from_its_mean():
    found = of_text(kafka_text(100, mean=True))
    assert found.apis["Produce"].times_ms["queue"].total == 500


def test_histograms_have_their_buckets_and_sums():
    bucket = NAME + "totaltimems_bucket"
    found = parse_reading(
        [
            Sample(bucket, {"request": "Fetch", "le": "0.5"}, 3),
            Sample(bucket, {"request": "Fetch", "le": "+Inf"}, 4),
            Sample(bucket, {"request": "Fetch", "le": "nonsense"}, 4),
            Sample(NAME + "totaltimems_sum", {"request": "Fetch"}, 7.5),
        ],
        0,
    )
    total = found.apis["Fetch"].times_ms["total"]
    assert (total.buckets, total.total) == ({0.5: 3, float("inf"): 4}, 7.5)


def test_errors_are_unknown_if_the_source_counts_none_and_zero_of_brokerd():
    requests = Sample(NAME + "requests_total", {"request": "Fetch"}, 1)
    assert parse_reading([requests], 0).apis["Fetch"].errors is None
    brokerd = Sample("brokerd_loop_idle_seconds_total", {}, 1)
    assert parse_reading([requests, brokerd], 0).apis["Fetch"].errors == 0


def test_values_that_no_counter_has_are_unknown():
    requests = [
        Sample(NAME + "requests_total", {"request": "Fetch"}, value)
        for value in (float("nan"), float("inf"), -1.0)
    ]
    assert parse_reading(requests, 0).apis == {}


def test_samples_without_an_api_are_left_out():
    assert parse_reading([Sample(NAME + "requests_total", {}, 1)], 0).apis == {}
