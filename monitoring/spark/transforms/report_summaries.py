"""One row per topic or group from rows that are rolled up. Pure: DataFrame → DataFrame.

`whole`: rows of one bucket, the whole range. `in_buckets`: rows of the report's buckets, which say
when the highest value was. A value that is not known in the whole range is null.
How many rows are kept is in jobs/throughput_and_lag.py, how many are shown in
console/reports/report_page.py.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from monitoring.history.table_specs import TOPICS

_MINUTE_S = 60
_MINUTE_MS = 60_000


def topics(whole: DataFrame, in_buckets: DataFrame) -> DataFrame:
    """Per topic: messages and bytes, with their mean and peak per minute.

    The peak is that of one sampling step. `…_unknown` is 1 if the sum is only a lower bound: the
    value at the end is not known, or bytes written while the leader changed were not counted.
    """
    rows = whole.join(_times_of_highest(in_buckets, "topic", "records_high"), "topic", "left")
    return rows.select(
        "topic",
        "partitions",
        _amount("records").alias("messages"),
        _mean_per_minute("records").alias("messages_per_minute_mean"),
        (F.col("records_high") * _MINUTE_S).alias("messages_per_minute_peak"),
        F.col("highest_at_ms").alias("messages_peak_at_ms"),
        _amount("bytes_in").alias("bytes"),
        _mean_per_minute("bytes_in").alias("bytes_per_minute_mean"),
        (F.col("bytes_in_high") * _MINUTE_S).alias("bytes_per_minute_peak"),
        "samples",
        (~_is_known("records")).cast("int").alias("messages_unknown"),
        (~_is_known("bytes_in") | (F.col("bytes_in_rated_ms") < F.col("records_rated_ms")))
        .cast("int")
        .alias("bytes_unknown"),
    )


def groups(whole: DataFrame, in_buckets: DataFrame, step_ms: int) -> DataFrame:
    """Per group: lag_min, lag_mean, lag_max, lag_last over the samples in which it is known.

    `ahead_max`: the partitions with a commit beyond the end. over_zero_ms, known_ms: for how long
    the lag was above 0, and for how long it is known; `step_ms` is the time of one sample.
    """
    rows = whole.join(_times_of_highest(in_buckets, "group", "lag_high"), "group", "left")
    ahead = in_buckets.groupBy("group").agg(F.max("ahead").alias("ahead_max"))
    known_ms = F.col("lag_samples") * F.lit(step_ms)
    return rows.join(ahead, "group", "left").select(
        "group",
        F.col("lag_low").alias("lag_min"),
        F.when(F.col("lag_samples") > 0, F.col("lag_sum") / F.col("lag_samples")).alias("lag_mean"),
        F.col("lag_high").alias("lag_max"),
        F.col("highest_at_ms").alias("lag_max_at_ms"),
        F.col("lag_last"),
        "ahead_max",
        F.when(known_ms > 0, F.col("behind_sum") * F.lit(step_ms)).alias("over_zero_ms"),
        F.when(known_ms > 0, known_ms).alias("known_ms"),
        "samples",
    )


def _times_of_highest(in_buckets: DataFrame, key: str, value: str) -> DataFrame:
    """For each key the start of the first bucket with the highest value."""
    first = F.max_by("at_ms", F.struct(F.col(value), -F.col("at_ms")))
    known = in_buckets.where(F.col(value).isNotNull())
    return known.groupBy(key).agg(first.alias("highest_at_ms"))


def _is_known(counter: str) -> Column:
    """Whether the counter is known at the end, or the topic is gone."""
    bit = TOPICS.counter_bit(counter)
    return (F.col("state") == 0) | (F.col("state").bitwiseAND(F.lit(bit)) != 0)


def _amount(counter: str) -> Column:
    """What was added; null if the counter was never known."""
    was_known = (F.col(f"{counter}_rated_ms") > 0) | (F.col(counter) > 0)
    return F.when(was_known, F.col(counter))


def _mean_per_minute(counter: str) -> Column:
    rated_ms = F.col(f"{counter}_rated_ms")
    return F.when(rated_ms > 0, F.col(f"{counter}_rated") * F.lit(float(_MINUTE_MS)) / rated_ms)
