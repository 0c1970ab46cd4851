"""What was written, per topic: DataFrame → DataFrame, nothing read, no clock.

A *step* lies between two samples of a partition whose value is known. Its messages are the
difference of the end offsets, its bytes the difference of the leader's counter. Where there is
no such difference:

- a partition that was not there in the first sample of all is new: its first value counts whole,
  in the totals but in no rate;
- the end offset went back (the topic was made anew, or its log was cut): messages null;
- another broker leads (its counter is another counter): bytes null;
- the counter went back (the broker was restarted): it counts from 0 again, so its value is what
  came since; what came between the last sample and the restart is not in it.

A rate is given for a bucket only where every partition of the topic seen in it has one; a step
that spans a gap counts in the totals, but not in a rate.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from monitoring.spark.transforms.time import bucket_start

_MINUTE_MS = 60_000


def steps(samples: DataFrame) -> DataFrame:
    """samples (PARTITION_SAMPLES) → one row each, with what came since the value before.

    Adds messages, messages_step_ms, bytes, bytes_step_ms (null = unknown) and the marks
    is_first (of its partition: nothing to compare with), reset (the offset went back) and
    restarted (the counter went back).
    """
    grown = F.col("log_end_offset") - F.col("end_before")
    more = F.col("bytes_in") - F.col("bytes_before")
    same_leader = F.col("leader") == F.col("leader_before")
    return _with_values_before(samples).select(
        "topic",
        "partition",
        "at_ms",
        "is_first",
        (grown < 0).alias("reset"),
        (same_leader & (more < 0)).alias("restarted"),
        F.when(grown >= 0, grown).alias("messages"),
        F.when(grown >= 0, F.col("at_ms") - F.col("end_before_at_ms")).alias("messages_step_ms"),
        F.when(same_leader, F.when(more >= 0, more).otherwise(F.col("bytes_in"))).alias("bytes"),
        F.when(same_leader & more.isNotNull(), F.col("at_ms") - F.col("bytes_before_at_ms")).alias(
            "bytes_step_ms"
        ),
    )


def _with_values_before(samples: DataFrame) -> DataFrame:
    """Beside each sample the last known values of its partition; 0 before a new one's first."""
    whole = Window.partitionBy("topic", "partition")
    in_order = whole.orderBy("at_ms")
    before = in_order.rowsBetween(Window.unboundedPreceding, -1)
    began = samples.agg(F.min("at_ms").alias("began_at_ms"))
    # Not there when the samples began: it was made since, with offset and counters at 0.
    is_new = F.min("at_ms").over(whole) > F.col("began_at_ms")

    def known(value: str, column: str) -> Column:
        """`column` of the last sample before this one in which `value` is known."""
        return F.last(F.when(F.col(value).isNotNull(), F.col(column)), ignorenulls=True).over(
            before
        )

    def or_new(found: Column, start: Column) -> Column:
        return F.coalesce(found, F.when(is_new, start))

    return samples.crossJoin(F.broadcast(began)).select(
        "topic",
        "partition",
        "at_ms",
        "leader",
        "log_end_offset",
        "bytes_in",
        (F.row_number().over(in_order) == 1).alias("is_first"),
        or_new(known("log_end_offset", "log_end_offset"), F.lit(0)).alias("end_before"),
        known("log_end_offset", "at_ms").alias("end_before_at_ms"),
        or_new(known("bytes_in", "bytes_in"), F.lit(0)).alias("bytes_before"),
        known("bytes_in", "at_ms").alias("bytes_before_at_ms"),
        or_new(known("bytes_in", "leader"), F.col("leader")).alias("leader_before"),
    )


def series(step_rows: DataFrame, bucket_ms: int, gap_ms: int) -> DataFrame:
    """steps → topic, bucket_ms (start), messages_per_minute, bytes_per_minute.

    A step belongs to the bucket in which it ends.
    """

    def rate(what: str) -> Column:
        near = F.col(f"{what}_step_ms").between(1, gap_ms)
        amount = F.sum(F.when(near, F.col(what)))
        duration_ms = F.sum(F.when(near, F.col(f"{what}_step_ms")))
        return (amount * _MINUTE_MS / duration_ms).alias(f"{what}_per_minute")

    def total(name: str) -> Column:
        return F.when(F.count(name) == F.count(F.lit(1)), F.sum(name)).alias(name)

    by_partition = step_rows.groupBy(
        "topic", "partition", bucket_start(F.col("at_ms"), bucket_ms).alias("bucket_ms")
    ).agg(rate("messages"), rate("bytes"))
    return by_partition.groupBy("topic", "bucket_ms").agg(
        total("messages_per_minute"), total("bytes_per_minute")
    )


def summary(step_rows: DataFrame, series_rows: DataFrame) -> DataFrame:
    """One row per topic: totals, mean and peak per minute, and how much is not known.

    A total is null where a partition sampled more than once has no known step. Of the others it
    sums what is known; `messages_unknown` and `bytes_unknown` count the steps that are not, and
    resets and restarts those that lost something. The mean is over the time from the first
    sample of the topic to its last.
    """
    topics = _by_topic(_by_partition(step_rows))
    samples = step_rows.groupBy("topic").agg(F.count_distinct("at_ms").alias("samples"))
    peaks = series_rows.groupBy("topic").agg(
        F.max("messages_per_minute").alias("messages_per_minute_peak"),
        F.max_by("bucket_ms", "messages_per_minute").alias("messages_peak_at_ms"),
        F.max("bytes_per_minute").alias("bytes_per_minute_peak"),
    )
    span_ms = F.col("last_at_ms") - F.col("first_at_ms")

    def mean(what: str) -> Column:
        per_minute = F.when(span_ms > 0, F.col(what) * _MINUTE_MS / span_ms)
        return per_minute.alias(f"{what}_per_minute_mean")

    joined = topics.join(samples, on="topic", how="left").join(peaks, on="topic", how="left")
    return joined.select(
        "topic",
        "partitions",
        "messages",
        mean("messages"),
        "messages_per_minute_peak",
        "messages_peak_at_ms",
        "bytes",
        mean("bytes"),
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
        dark = F.count_if((F.col("samples") > 1) & F.col(what).isNull())
        return F.when(dark == 0, F.sum(what)).alias(what)

    sums = ("resets", "restarts", "messages_unknown", "bytes_unknown")
    return partition_rows.groupBy("topic").agg(
        F.count("partition").alias("partitions"),
        F.min("first_at_ms").alias("first_at_ms"),
        F.max("last_at_ms").alias("last_at_ms"),
        total("messages"),
        total("bytes"),
        *(F.sum(name).alias(name) for name in sums),
    )
