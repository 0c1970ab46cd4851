"""Buckets of time, and the interval of the samples.

All times are epoch milliseconds (bigint), UTC.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

# A step longer than this many sampling intervals is a gap: it counts as unknown time.
GAP_STEPS = 3
BUCKETS_MAX = 240
_BUCKETS_MS = [60_000 * minutes for minutes in (1, 2, 5, 10, 15, 30, 60, 120, 360, 720, 1440)]


def bucket_ms_for(from_ms: int, to_ms: int) -> int:
    """The width of the buckets: at least a minute, and at most BUCKETS_MAX buckets."""
    for width_ms in _BUCKETS_MS:
        if (to_ms - from_ms) <= width_ms * BUCKETS_MAX:
            return width_ms
    return -(-(to_ms - from_ms) // BUCKETS_MAX)


def bucket_start(at_ms: Column, bucket_ms: int) -> Column:
    return at_ms - at_ms % F.lit(bucket_ms)


def sampling_interval(samples: DataFrame) -> DataFrame:
    """One row: ticks, first_at_ms, last_at_ms, interval_ms (the median step; 1 tick: null)."""
    ticks = samples.select("at_ms").distinct()
    steps = ticks.select(
        "at_ms",
        (F.col("at_ms") - F.lag("at_ms").over(Window.partitionBy(F.lit(0)).orderBy("at_ms"))).alias(
            "step_ms"
        ),
    )
    return steps.select(
        F.count("at_ms").alias("ticks"),
        F.min("at_ms").alias("first_at_ms"),
        F.max("at_ms").alias("last_at_ms"),
        F.percentile("step_ms", 0.5).cast("bigint").alias("interval_ms"),
    )
