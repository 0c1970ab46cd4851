"""The lag of groups over time. Pure transformations: DataFrame → DataFrame.

A group's lag at a tick is the sum over the partitions for which it has committed an offset. It is
null (unknown) if the end offset of one of them is unknown, or if the group has no commits. A
negative lag (a commit beyond the end) counts as 0, so that it does not hide another partition's
lag. `ahead` counts such partitions, `ahead_by` sums their offsets beyond the end.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from monitoring.spark.transforms.time import bucket_start


def totals(samples: DataFrame) -> DataFrame:
    """samples (GROUP_SAMPLES) → group, at_ms, partitions (with a commit), lag, ahead, ahead_by."""
    once = samples.dropDuplicates(["at_ms", "group", "topic", "partition"])
    committed = F.col("committed_offset").isNotNull()
    partitions = F.count_if(committed)
    known = F.count_if(committed & F.col("lag").isNotNull())
    return once.groupBy("group", "at_ms").agg(
        partitions.alias("partitions"),
        F.when(
            (known > 0) & (known == partitions),
            F.sum(F.when(committed, F.greatest("lag", F.lit(0)))),
        ).alias("lag"),
        F.count_if(F.col("lag") < 0).alias("ahead"),
        F.coalesce(F.sum(F.when(F.col("lag") < 0, -F.col("lag"))), F.lit(0)).alias("ahead_by"),
    )


def series(total_rows: DataFrame, bucket_ms: int) -> DataFrame:
    """totals → group, bucket_ms (start), lag_min, lag_mean, lag_max; unknown samples are
    ignored."""
    return total_rows.groupBy(
        "group", bucket_start(F.col("at_ms"), bucket_ms).alias("bucket_ms")
    ).agg(
        F.min("lag").alias("lag_min"),
        F.avg("lag").alias("lag_mean"),
        F.max("lag").alias("lag_max"),
    )


def summary(total_rows: DataFrame, gap_ms: int) -> DataFrame:
    """One row per group. A sample is valid until the next one, unless there is a gap in between.

    lag_min, lag_mean, lag_p95 (linear interpolation), lag_max, lag_last: over known samples.
    ahead_max, ahead_by_max: the highest `ahead` and `ahead_by` of a sample. over_zero_ms, known_ms:
    for how long the lag was above 0, and for how long it is known.
    """
    next_at_ms = F.lead("at_ms").over(Window.partitionBy("group").orderBy("at_ms"))
    intervals = total_rows.select(
        "group",
        "at_ms",
        "partitions",
        "lag",
        "ahead",
        "ahead_by",
        (next_at_ms - F.col("at_ms")).alias("interval_ms"),
    )
    is_continuous = F.col("interval_ms") <= gap_ms
    return intervals.groupBy("group").agg(
        F.max("partitions").alias("partitions"),
        F.min("lag").alias("lag_min"),
        F.avg("lag").alias("lag_mean"),
        F.percentile("lag", 0.95).alias("lag_p95"),
        F.max("lag").alias("lag_max"),
        F.max_by("at_ms", "lag").alias("lag_max_at_ms"),
        F.max_by("lag", "at_ms").alias("lag_last"),
        F.max("ahead").alias("ahead_max"),
        F.max("ahead_by").alias("ahead_by_max"),
        F.sum(
            F.when(is_continuous & (F.col("lag") > 0), F.col("interval_ms")).when(
                is_continuous & F.col("lag").isNotNull(), F.lit(0)
            )
        ).alias("over_zero_ms"),
        F.sum(F.when(is_continuous & F.col("lag").isNotNull(), F.col("interval_ms"))).alias(
            "known_ms"
        ),
        F.count(F.lit(1)).alias("samples"),
        F.count_if(F.col("lag").isNull()).alias("unknown_samples"),
        F.min("at_ms").alias("first_at_ms"),
        F.max("at_ms").alias("last_at_ms"),
    )
