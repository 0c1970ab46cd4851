"""Each figure against the same figure computed without Spark."""

import pytest
from hypothesis import HealthCheck, given, settings
from pyspark.sql import SparkSession

from monitoring.scope import Scope
from monitoring.spark.input_schemas import GROUP_SAMPLES, PARTITION_SAMPLES
from monitoring.spark.transforms import lag, throughput
from monitoring.spark.transforms.names import within
from monitoring.spark.transforms.time import BUCKETS_MAX, bucket_ms_for, sampling_interval
from tests.monitoring.spark import random_samples, reference

pytestmark = pytest.mark.spark

BUCKET_MS = 60_000
GAP_MS = 15_000
T0 = 1_760_000_040_000  # a whole minute


def rows_of(frame, *key):
    rows = [row.asDict() for row in frame.collect()]
    return {tuple(row[name] for name in key): row for row in rows}


def partition(spark, values, **same):
    """Samples of one partition, 5 s apart: each value a dict or an end offset, None = no tick."""
    rows = []
    for number, value in enumerate(values):
        if value is None:
            continue
        row = value if isinstance(value, dict) else {"log_end_offset": value}
        rows.append(
            {"at_ms": T0 + number * 5000, "topic": "t", "partition": 0, "leader": 1}
            | {"log_end_offset": None, "bytes_in": None} | same | row
        )  # fmt: skip
    return spark.createDataFrame(rows, PARTITION_SAMPLES)


def summary_of(samples):
    steps = throughput.steps(samples)
    series = throughput.series(steps, BUCKET_MS, GAP_MS)
    return rows_of(throughput.summary(steps, series), "topic")["t",]


def test_throughput_agrees_with_plain_python_on_a_bad_day(spark: SparkSession) -> None:
    samples, _ = reference.a_bad_day(seed=1)
    expected, expected_series = reference.throughput(samples, BUCKET_MS, GAP_MS)
    steps = throughput.steps(spark.createDataFrame(samples, PARTITION_SAMPLES))
    series = throughput.series(steps, BUCKET_MS, GAP_MS)
    found = rows_of(throughput.summary(steps, series), "topic")
    assert {name for (name,) in found} == set(expected)
    for topic, figures in expected.items():
        row = found[topic,]
        assert {name: row[name] for name in figures} == pytest.approx(figures), topic
    found_series = rows_of(series, "topic", "bucket_ms")
    assert set(found_series) == set(expected_series)
    for key, (messages, size) in expected_series.items():
        row = found_series[key]
        assert row["messages_per_minute"] == pytest.approx(messages), key
        assert row["bytes_per_minute"] == pytest.approx(size), key


def test_lag_agrees_with_plain_python_on_a_bad_day(spark: SparkSession) -> None:
    _, samples = reference.a_bad_day(seed=2)
    expected = reference.group_lag(samples)
    totals = lag.totals(spark.createDataFrame(samples, GROUP_SAMPLES))
    found = rows_of(totals, "group", "at_ms")
    for group, values in expected.items():
        assert [(at, found[group, at]["lag"]) for at, _ in values] == values
    summaries = rows_of(lag.summary(totals, GAP_MS), "group")
    for group, values in expected.items():
        figures = reference.lag_summary(values, GAP_MS)
        row = summaries[group,]
        assert (row["ahead_max"], row["ahead_by_max"]) == reference.group_ahead(samples)[group]
        assert {name: row[name] for name in figures} == pytest.approx(figures), group


def test_the_lag_series_keeps_the_peak_within_a_bucket(spark: SparkSession) -> None:
    _, samples = reference.a_bad_day(3)
    known: dict = {}
    for group, values in reference.group_lag(samples).items():
        for at, value in values:
            known.setdefault((group, at - at % BUCKET_MS), []).append(value)
    frame = lag.series(lag.totals(spark.createDataFrame(samples, GROUP_SAMPLES)), BUCKET_MS)
    found = rows_of(frame, "group", "bucket_ms")
    assert set(found) == set(known)
    for key, values in known.items():
        lags = [value for value in values if value is not None]
        row = found[key]
        assert row["lag_max"] == max(lags, default=None)
        assert row["lag_min"] == min(lags, default=None)
        assert row["lag_mean"] == (pytest.approx(sum(lags) / len(lags)) if lags else None)


def test_messages_are_the_growth_of_the_end_offset(spark: SparkSession) -> None:
    row = summary_of(partition(spark, [100, 110, 110, 160]))
    assert row["messages"] == 60
    assert row["messages_per_minute_mean"] == 240.0  # 60 in 15 s


def test_a_counter_that_went_back_is_a_restart_and_counts_from_zero(spark: SparkSession) -> None:
    counters = [{"bytes_in": 1000}, {"bytes_in": 1500}, {"bytes_in": 200}, {"bytes_in": 300}]
    row = summary_of(partition(spark, counters))
    assert (row["bytes"], row["restarts"]) == (500 + 200 + 100, 1)


def test_the_counter_of_another_leader_is_not_compared(spark: SparkSession) -> None:
    counters = [{"bytes_in": 10}, {"bytes_in": 9000, "leader": 2}, {"bytes_in": 9100, "leader": 2}]
    row = summary_of(partition(spark, counters))
    assert (row["bytes"], row["restarts"]) == (100, 0)


def test_a_step_in_which_the_end_offset_went_back_is_unknown(spark: SparkSession) -> None:
    row = summary_of(partition(spark, [100, 5, 25]))
    assert (row["messages"], row["resets"]) == (20, 1)


def test_unknown_stays_null_and_is_never_zero(spark: SparkSession) -> None:
    row = summary_of(partition(spark, [{}, {}, {}]))
    assert row["messages"] is row["bytes"] is None
    assert row["messages_per_minute_mean"] is row["messages_per_minute_peak"] is None
    assert row["messages_unknown"] == row["bytes_unknown"] == 2


def test_one_unknown_partition_makes_the_total_of_the_topic_unknown(spark: SparkSession) -> None:
    both = partition(spark, [0, 10, 20]).union(partition(spark, [{}, {}, {}], partition=1))
    assert summary_of(both)["messages"] is None


def test_the_first_value_of_a_new_partition_counts_in_full(spark: SparkSession) -> None:
    made = [None, None, {"log_end_offset": 5, "bytes_in": 700, "leader": 2}]
    there = [{"log_end_offset": 10 * n, "bytes_in": 10 * n} for n in range(3)]
    both = partition(spark, there).union(partition(spark, made, partition=1))
    row = summary_of(both)
    assert (row["messages"], row["messages_unknown"]) == (25, 0)
    assert (row["bytes"], row["bytes_unknown"]) == (720, 0)
    series = throughput.series(throughput.steps(both), BUCKET_MS, GAP_MS).collect()
    assert series[0]["messages_per_minute"] == pytest.approx(25 * 6), "in the 10 s of both"


def test_a_burst_into_a_new_topic_is_in_peak_and_mean(spark: SparkSession) -> None:
    there = partition(spark, [0] * 60, topic="other")
    burst = partition(spark, [None] * 20 + [50_000] * 40)
    row = summary_of(there.union(burst))
    assert row["messages"] == 50_000
    assert row["messages_per_minute_mean"] == pytest.approx(50_000 * 60 / 200)
    assert row["messages_per_minute_peak"] == pytest.approx(50_000 * 60 / 20)
    assert row["messages_peak_at_ms"] == T0 + BUCKET_MS


def test_messages_of_a_new_topic_across_a_gap_are_in_no_rate(spark: SparkSession) -> None:
    there = partition(spark, [0, 0, *[None] * 40, 0, 0], topic="other")
    burst = partition(spark, [None, None, *[None] * 40, 900, 900])
    row = summary_of(there.union(burst))
    assert (row["messages"], row["messages_per_minute_peak"]) == (900, 0)
    assert row["messages_per_minute_mean"] == 0


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(random_samples.clusters(topics=8))
def test_the_figures_agree_with_plain_python_for_random_samples(
    spark: SparkSession, cluster
) -> None:
    samples = cluster.samples()
    expected, expected_series = reference.throughput(samples, BUCKET_MS, GAP_MS)
    steps = throughput.steps(spark.createDataFrame(samples, PARTITION_SAMPLES))
    series = throughput.series(steps, BUCKET_MS, GAP_MS)
    found = rows_of(throughput.summary(steps, series), "topic")
    assert {name for (name,) in found} == set(expected)
    for topic, figures in expected.items():
        row = found[topic,]
        assert {name: row[name] for name in figures} == pytest.approx(figures), topic
        for what in ("messages", "bytes"):
            mean, peak = row[f"{what}_per_minute_mean"], row[f"{what}_per_minute_peak"]
            assert (mean is None) == (peak is None)
            assert mean is None or mean <= peak
    rates = {key: row["messages_per_minute"] for key, row in
             rows_of(series, "topic", "bucket_ms").items()}  # fmt: skip
    assert rates == pytest.approx({key: rate for key, (rate, _) in expected_series.items()})


def test_a_new_partition_whose_offset_is_unknown_at_first(spark: SparkSession) -> None:
    both = partition(spark, [0, 10, 20]).union(partition(spark, [None, {}, 5], partition=1))
    assert summary_of(both)["messages"] == 25


def test_one_sample_gives_no_rates(spark: SparkSession) -> None:
    row = summary_of(partition(spark, [100]))
    assert row["messages"] is row["messages_per_minute_mean"] is None


def test_a_step_across_a_gap_counts_in_the_total_and_in_no_rate(spark: SparkSession) -> None:
    minutes = [0, 60, *[None] * 40, 900, 960]  # 3 min without samples, ends in the fourth minute
    samples = partition(spark, minutes)
    assert summary_of(samples)["messages"] == 960
    series = rows_of(throughput.series(throughput.steps(samples), BUCKET_MS, GAP_MS), "bucket_ms")
    rates = {at - T0: row["messages_per_minute"] for (at,), row in series.items()}
    assert rates == {0: 720.0, 3 * BUCKET_MS: 720.0}


def test_one_unknown_partition_makes_the_rate_of_the_topic_unknown(spark: SparkSession) -> None:
    both = partition(spark, [0, 10, 20]).union(partition(spark, [{}, {}, {}], partition=1))
    (row,) = throughput.series(throughput.steps(both), BUCKET_MS, GAP_MS).collect()
    assert row["messages_per_minute"] is None


def test_a_group_without_commits_has_no_lag(spark: SparkSession) -> None:
    row = {"at_ms": T0, "group": "g", "topic": "t", "partition": 0, "committed_offset": None}
    frame = spark.createDataFrame([row | {"lag": None}], GROUP_SAMPLES)
    (total,) = lag.totals(frame).collect()
    assert (total["lag"], total["partitions"]) == (None, 0)


def test_a_sample_stored_twice_counts_once(spark: SparkSession) -> None:
    row = {"at_ms": T0, "group": "g", "topic": "t", "partition": 0, "committed_offset": 1, "lag": 9}
    frame = spark.createDataFrame([row, row], GROUP_SAMPLES)
    assert lag.totals(frame).collect()[0]["lag"] == 9


def test_hidden_topics_are_removed_and_rows_without_topic_stay(spark: SparkSession) -> None:
    names = ["console.audit", "console.orders", "consoles", "c*", None]
    frame = spark.createDataFrame([(name,) for name in names], "topic string")
    hidden = frozenset({"console.audit"})

    def kept(*topics: str) -> list[str | None]:
        return [row.topic for row in within(frame, Scope(topics, ("g",), hidden)).collect()]

    assert kept("*") == ["console.orders", "consoles", "c*", None]
    assert kept("console.*", "other") == ["console.orders", None]
    assert kept("consoles") == ["consoles", None]


def test_groups_outside_the_scope_are_removed(spark: SparkSession) -> None:
    rows = [("a.1", "t"), ("a", "t"), ("b", None), ("b", "u")]
    frame = spark.createDataFrame(rows, "`group` string, topic string")
    scope = Scope(("t",), ("a.*", "b"))
    assert [tuple(row) for row in within(frame, scope).collect()] == [("a.1", "t"), ("b", None)]


def test_the_sampling_interval_is_the_median_step(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(T0 + at,) for at in (0, 0, 5000, 10000, 95000)], "at_ms long")
    (row,) = sampling_interval(frame).collect()
    assert row.asDict() == {
        "ticks": 4, "first_at_ms": T0, "last_at_ms": T0 + 95000, "interval_ms": 5000,
    }  # fmt: skip


@pytest.mark.parametrize("hours", [0.1, 1, 6, 24, 24 * 30, 24 * 4000])
def test_a_chart_has_a_bounded_number_of_points(hours: float) -> None:
    range_ms = int(hours * 3_600_000)
    width_ms = bucket_ms_for(0, range_ms)
    assert width_ms >= 60_000
    assert range_ms / width_ms <= BUCKETS_MAX
