"""Messages and bytes written per topic. Pure transformations: DataFrame → DataFrame.

A *step* is the interval between two samples of a partition in which the value is known. Its
messages are the difference of the end offsets, its bytes the difference of the leader's counter.
Special cases:

- a partition that is missing in the very first tick is new: its first value counts in full, as
  written since the last tick without it;
- the end offset went back (the topic was created again, or its log was cut): messages null;
- the leader changed (each broker has its own counter): bytes null;
- the counter went back (the broker was restarted and counts from 0): bytes is the counter's value;
  what was written between the last sample and the restart is missing.

A bucket has a rate only if every partition of the topic in that bucket has one. A step across a gap
counts in the totals, but not in a rate. The mean is the mean of the rates, weighted by their
durations. So it is never above the peak, and if nothing is unknown it is total / time.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from monitoring.spark.transforms.time import bucket_start

_MINUTE_MS = 60_000


def steps(samples: DataFrame) -> DataFrame:
    """samples (PARTITION_SAMPLES) → one row per sample, with what was written since the previous
    one.

    Adds messages, messages_step_ms, bytes, bytes_step_ms (null = unknown) and flags: is_first (the
    partition's first sample), is_new (the first sample of a partition that was created after the
    first tick), reset (the offset went back) and restarted (the counter went back).
    """
    offset_growth = F.col("log_end_offset") - F.col("end_before")
    byte_growth = F.col("bytes_in") - F.col("bytes_before")
    same_leader = F.col("leader") == F.col("leader_before")
    return _with_values_before(samples).select(
        "topic",
        "partition",
        "at_ms",
        "is_first",
        "is_new",
        (offset_growth < 0).alias("reset"),
        (same_leader & (byte_growth < 0)).alias("restarted"),
        F.when(offset_growth >= 0, offset_growth).alias("messages"),
        F.when(offset_growth >= 0, F.col("at_ms") - F.col("end_before_at_ms")).alias(
            "messages_step_ms"
        ),
        F.when(
            same_leader, F.when(byte_growth >= 0, byte_growth).otherwise(F.col("bytes_in"))
        ).alias("bytes"),
        F.when(
            same_leader & byte_growth.isNotNull(), F.col("at_ms") - F.col("bytes_before_at_ms")
        ).alias("bytes_step_ms"),
    )


def _with_values_before(samples: DataFrame) -> DataFrame:
    """Adds the partition's last known values to each sample; 0 for a new partition's first
    sample."""
    whole = Window.partitionBy("topic", "partition")
    in_order = whole.orderBy("at_ms")
    before = in_order.rowsBetween(Window.unboundedPreceding, -1)
    ticks = samples.select(F.col("at_ms").alias("tick_ms")).distinct()
    in_time = Window.partitionBy(F.lit(0)).orderBy("tick_ms")
    # A new partition was created after this tick, with offset and counters at 0.
    ticks = ticks.select("tick_ms", F.lag("tick_ms").over(in_time).alias("absent_at_ms"))
    dated = samples.withColumn("first_at_ms", F.min("at_ms").over(whole))
    dated = dated.join(F.broadcast(ticks), on=F.col("first_at_ms") == F.col("tick_ms"))
    is_new = F.col("absent_at_ms").isNotNull()
    is_first = F.row_number().over(in_order) == 1

    def known(value: str, column: str) -> Column:
        """`column` of the last sample before this one in which `value` is known."""
        return F.last(F.when(F.col(value).isNotNull(), F.col(column)), ignorenulls=True).over(
            before
        )

    def or_new(found: Column, start: Column) -> Column:
        return F.coalesce(found, F.when(is_new, start))

    return dated.select(
        "topic",
        "partition",
        "at_ms",
        "leader",
        "log_end_offset",
        "bytes_in",
        is_first.alias("is_first"),
        (is_first & is_new).alias("is_new"),
        or_new(known("log_end_offset", "log_end_offset"), F.lit(0)).alias("end_before"),
        or_new(known("log_end_offset", "at_ms"), F.col("absent_at_ms")).alias("end_before_at_ms"),
        or_new(known("bytes_in", "bytes_in"), F.lit(0)).alias("bytes_before"),
        or_new(known("bytes_in", "at_ms"), F.col("absent_at_ms")).alias("bytes_before_at_ms"),
        or_new(known("bytes_in", "leader"), F.col("leader")).alias("leader_before"),
    )


def series(step_rows: DataFrame, bucket_ms: int, gap_ms: int) -> DataFrame:
    """steps → topic, bucket_ms (start), messages_per_minute, messages_ms, bytes_…: rates and the
    duration of each.

    A step belongs to the bucket in which it ends. If a partition was seen in a part of the bucket
    only, its rate is used for the whole bucket, unless the partition is new.
    """

    def of_partition(what: str) -> tuple[Column, Column]:
        is_continuous = F.col(f"{what}_step_ms").between(1, gap_ms)
        amount = F.sum(F.when(is_continuous, F.col(what)))
        duration_ms = F.sum(F.when(is_continuous, F.col(f"{what}_step_ms")))
        return amount.alias(what), duration_ms.alias(f"{what}_ms")

    def of_topic(what: str) -> tuple[Column, Column]:
        duration_ms = F.max(f"{what}_ms")
        is_known = F.count(what) == F.count(F.lit(1))
        new_amount = F.sum(F.when(F.col("is_new"), F.col(what)))
        per_ms_old = F.sum(F.when(~F.col("is_new"), F.col(what) / F.col(f"{what}_ms")))
        per_ms = F.coalesce(per_ms_old, F.lit(0.0)) + F.coalesce(
            new_amount / duration_ms, F.lit(0.0)
        )
        return (
            F.when(is_known, per_ms * _MINUTE_MS).alias(f"{what}_per_minute"),
            F.when(is_known, duration_ms).alias(f"{what}_ms"),
        )

    by_partition = step_rows.groupBy(
        "topic", "partition", bucket_start(F.col("at_ms"), bucket_ms).alias("bucket_ms")
    ).agg(F.bool_or("is_new").alias("is_new"), *of_partition("messages"), *of_partition("bytes"))
    return by_partition.groupBy("topic", "bucket_ms").agg(*of_topic("messages"), *of_topic("bytes"))


def summary(step_rows: DataFrame, series_rows: DataFrame) -> DataFrame:
    """One row per topic: totals, mean and peak per minute, and counts of what is unknown.

    A total is null if a partition with more than one sample has no known step. Otherwise it is the
    sum of the known steps. `messages_unknown` and `bytes_unknown` count unknown steps; `resets` and
    `restarts` count steps that lost something. Mean and peak are those of the series.
    """
    topics = _by_topic(_by_partition(step_rows))
    samples = step_rows.groupBy("topic").agg(F.count_distinct("at_ms").alias("samples"))

    def mean(what: str) -> Column:
        weighted = F.sum(F.col(f"{what}_per_minute") * F.col(f"{what}_ms"))
        # Rounding can make the mean of equal rates slightly larger than they are.
        found = F.least(weighted / F.sum(f"{what}_ms"), F.max(f"{what}_per_minute"))
        return found.alias(f"{what}_per_minute_mean")

    rates = series_rows.groupBy("topic").agg(
        mean("messages"),
        F.max("messages_per_minute").alias("messages_per_minute_peak"),
        F.max_by("bucket_ms", "messages_per_minute").alias("messages_peak_at_ms"),
        mean("bytes"),
        F.max("bytes_per_minute").alias("bytes_per_minute_peak"),
    )
    joined = topics.join(samples, on="topic", how="left").join(rates, on="topic", how="left")
    return joined.select(
        "topic",
        "partitions",
        "messages",
        "messages_per_minute_mean",
        "messages_per_minute_peak",
        "messages_peak_at_ms",
        "bytes",
        "bytes_per_minute_mean",
        "bytes_per_minute_peak",
        "samples",
        "first_at_ms",
        "last_at_ms",
        "resets",
        "restarts",
        "messages_unknown",
        "bytes_unknown",
    )


def _by_partition(step_rows: DataFrame) -> DataFrame:
    def unknown(what: str) -> Column:
        return F.count_if(~F.col("is_first") & F.col(what).isNull()).alias(f"{what}_unknown")

    return step_rows.groupBy("topic", "partition").agg(
        F.count(F.lit(1)).alias("samples"),
        F.min("at_ms").alias("first_at_ms"),
        F.max("at_ms").alias("last_at_ms"),
        F.sum("messages").alias("messages"),
        F.sum("bytes").alias("bytes"),
        F.count_if("reset").alias("resets"),
        F.count_if("restarted").alias("restarts"),
        unknown("messages"),
        unknown("bytes"),
    )


def _by_topic(partition_rows: DataFrame) -> DataFrame:
    def total(what: str) -> Column:
        unknown_partitions = F.count_if((F.col("samples") > 1) & F.col(what).isNull())
        return F.when(unknown_partitions == 0, F.sum(what)).alias(what)

    sums = ("resets", "restarts", "messages_unknown", "bytes_unknown")
    return partition_rows.groupBy("topic").agg(
        F.count("partition").alias("partitions"),
        F.min("first_at_ms").alias("first_at_ms"),
        F.max("last_at_ms").alias("last_at_ms"),
        total("messages"),
        total("bytes"),
        *(F.sum(name).alias(name) for name in sums),
    )
