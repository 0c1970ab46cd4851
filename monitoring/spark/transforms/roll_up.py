"""Rolls rows of a level of the history up to longer buckets. Pure: DataFrame → DataFrame.

Only changes are stored (history/table_specs.py), so the figures of a bucket follow from its
rows and from what held before, between and behind them. Of a figure that adds up over samples each
row contributes

    its own amount − what its bucket would have added, had nothing changed in it
    + (the value after it − the value before it) × the samples behind it in the coarse bucket

and the value before the first row counts for all samples of the coarse bucket. So the order of the
rows does not matter, and one hash aggregation is enough. All of it is in whole numbers but the
lowest and highest rates: the result does not depend on how Spark divides the work.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from monitoring.history.table_specs import EXISTS, SUM_MAX, UNANSWERED, UNANSWERED_MS, Table
from monitoring.spark.transforms.buckets import FINE_COLUMNS, Bucket, coarse_buckets, fine_buckets

_RATED_ROWS_MS = "_rated_rows_ms"  # the part of a counter's rated time that has rows


def from_raw(rows: DataFrame, table: Table, ticks: Sequence[Bucket]) -> DataFrame:
    """Raw rows → rows of a level whose buckets are ticks. Drops rows of times not in `ticks`."""
    steps = fine_buckets(rows.sparkSession, ticks, 1).select("at_ms", "bucket_rated_ms")
    return rows.join(steps, "at_ms").select(_of_ticks(table))


def _of_ticks(table: Table) -> list[Column]:
    """The columns of a level whose buckets are ticks, of raw rows with their `bucket_rated_ms`."""
    columns = [F.col(name) for name in ("at_ms", *table.keys, "repeated", "state_before", "state")]
    columns.append(_bit("state", EXISTS).alias("samples"))
    columns += [F.col(fact) for fact in table.facts]
    if table.has_answers:
        unanswered_ms = _bit("state", UNANSWERED) * F.col("bucket_rated_ms")
        columns.append(unanswered_ms.alias(UNANSWERED_MS))
    for gauge in table.gauges:
        columns += _gauge_of_tick(gauge)
    for counter in table.counters:
        columns += _counter_of_tick(counter, table.counter_bit(counter))
    return columns


def _gauge_of_tick(gauge: str) -> list[Column]:
    value = F.col(gauge)
    return [
        F.col(f"{gauge}_before"),
        *(value.alias(f"{gauge}_{name}") for name in ("last", "low", "high")),
        _or_zero(value).alias(f"{gauge}_sum"),
        _known(value).alias(f"{gauge}_samples"),
    ]


def _counter_of_tick(counter: str, bit: int) -> list[Column]:
    amount, step_ms = F.col(counter), F.col("bucket_rated_ms")
    is_rated = F.col("rated").bitwiseAND(F.lit(bit)) != 0
    rate = F.when(is_rated, amount.cast("double") * F.lit(1000.0) / step_ms)
    return [
        amount,
        F.when(is_rated, amount).otherwise(F.lit(0)).alias(f"{counter}_rated"),
        F.when(is_rated, step_ms).otherwise(F.lit(0)).alias(f"{counter}_rated_ms"),
        rate.alias(f"{counter}_low"),
        rate.alias(f"{counter}_high"),
    ]


def roll_up(
    rows: DataFrame,
    table: Table,
    buckets: Sequence[Bucket],
    bucket_ms: int,
    *,
    is_raw: bool = False,
    keep_repeated_until_ms: int | None = None,
) -> DataFrame:
    """Rows of a level → rows of buckets of `bucket_ms`, with the columns of `level_schema`.

    `buckets` are those of the rows' level (`is_raw`: ticks); a bucket of `bucket_ms` must be
    complete in them. Rows of other times are dropped, and rows with `repeated` of buckets that
    start at `keep_repeated_until_ms` or later.
    """
    spark = rows.sparkSession
    rows = rows.join(fine_buckets(spark, buckets, bucket_ms), "at_ms")
    if is_raw:
        rows = rows.select(*_of_ticks(table), *FINE_COLUMNS)
    totals = coarse_buckets(spark, buckets, bucket_ms, keep_repeated_until_ms)
    found = rows.groupBy("bucket_at_ms", *table.keys).agg(*_aggregates(table))
    found = found.join(totals, "bucket_at_ms")
    if keep_repeated_until_ms is not None:
        found = found.where(~F.col("repeated") | (F.col("keeps_repeated") == 1))
    return found.select(_columns(table))


def _aggregates(table: Table) -> list[Column]:
    existing_samples = _sum_over_samples(
        "samples", _bit("state_before", EXISTS), _bit("state", EXISTS), "samples"
    )
    found = [
        F.min("at_ms").alias("first_ms"),
        F.bool_and("repeated").alias("repeated"),
        _first("state_before"),
        _last("state"),
        existing_samples,
        *(_last(fact) for fact in table.facts),
    ]
    if table.has_answers:
        found.append(_unanswered_aggregate())
    for gauge in table.gauges:
        found += _gauge_aggregates(gauge)
    for counter in table.counters:
        found += _counter_aggregates(counter, table.counter_bit(counter))
    return found


def _unanswered_aggregate() -> Column:
    """Null if one of the rows is null: of an older file."""
    total = _sum_over_samples(
        UNANSWERED_MS, _bit("state_before", UNANSWERED), _bit("state", UNANSWERED), "rated_ms"
    )
    is_known = F.bool_and(F.col(UNANSWERED_MS).isNotNull())
    return F.when(is_known, total).alias(UNANSWERED_MS)


def _gauge_aggregates(gauge: str) -> list[Column]:
    before, last = F.col(f"{gauge}_before"), F.col(f"{gauge}_last")
    return [
        _first(f"{gauge}_before"),
        _last(f"{gauge}_last"),
        F.min(f"{gauge}_low").alias(f"{gauge}_low"),
        F.max(f"{gauge}_high").alias(f"{gauge}_high"),
        _sum_over_samples(f"{gauge}_sum", _or_zero(before), _or_zero(last), "samples"),
        _sum_over_samples(f"{gauge}_samples", _known(before), _known(last), "samples"),
    ]


def _counter_aggregates(counter: str, bit: int) -> list[Column]:
    rated_ms = f"{counter}_rated_ms"
    return [
        F.sum(counter).alias(counter),
        F.sum(f"{counter}_rated").alias(f"{counter}_rated"),
        _sum_over_samples(rated_ms, _bit("state_before", bit), _bit("state", bit), "rated_ms"),
        F.sum(rated_ms).alias(counter + _RATED_ROWS_MS),
        F.min(f"{counter}_low").alias(f"{counter}_low"),
        F.max(f"{counter}_high").alias(f"{counter}_high"),
    ]


def _columns(table: Table) -> list[Column]:
    """The columns of `level_schema`: adds what held before the first row."""
    existing_samples = F.col("samples") + _bit("state_before", EXISTS) * F.col("total_samples")
    columns = [F.col("bucket_at_ms").alias("at_ms"), *(F.col(key) for key in table.keys)]
    columns += [F.col(name) for name in ("repeated", "state_before", "state")]
    columns += [existing_samples.alias("samples"), *(F.col(fact) for fact in table.facts)]
    if table.has_answers:
        held_ms = _bit("state_before", UNANSWERED) * F.col("total_rated_ms")
        columns.append((F.col(UNANSWERED_MS) + held_ms).alias(UNANSWERED_MS))
    for gauge in table.gauges:
        columns += _gauge_columns(gauge)
    for counter in table.counters:
        columns += _counter_columns(counter, table.counter_bit(counter))
    return columns


def _gauge_columns(gauge: str) -> list[Column]:
    before = F.col(f"{gauge}_before")
    # A sample before the first row has the value before it; least and greatest skip null.
    held = F.when(F.col("first_sampled_ms") < F.col("first_ms"), before)
    total = F.col("total_samples")
    high = F.greatest(f"{gauge}_high", held)
    samples = F.col(f"{gauge}_samples") + _known(before) * total
    # Of a sum that may be beyond 64 bits no sample is counted: its mean is unknown.
    is_too_large = high.cast("double") * samples > F.lit(SUM_MAX)
    gauge_sum = F.col(f"{gauge}_sum") + _or_zero(before) * total
    return [
        before,
        F.col(f"{gauge}_last"),
        F.least(f"{gauge}_low", held).alias(f"{gauge}_low"),
        high.alias(f"{gauge}_high"),
        F.when(is_too_large, 0).otherwise(gauge_sum).alias(f"{gauge}_sum"),
        F.when(is_too_large, 0).otherwise(samples).alias(f"{gauge}_samples"),
    ]


def _counter_columns(counter: str, bit: int) -> list[Column]:
    rated_ms = F.col(f"{counter}_rated_ms") + _bit("state_before", bit) * F.col("total_rated_ms")
    # Rated time without a row has the rate 0.
    zero = F.when(rated_ms > F.col(counter + _RATED_ROWS_MS), F.lit(0.0))
    return [
        F.col(counter),
        F.col(f"{counter}_rated"),
        rated_ms.alias(f"{counter}_rated_ms"),
        F.least(f"{counter}_low", zero).alias(f"{counter}_low"),
        F.greatest(f"{counter}_high", zero).alias(f"{counter}_high"),
    ]


def _sum_over_samples(amount: str, before: Column, after: Column, weight: str) -> Column:
    """The sum of `amount` over all samples, without the part of the value before the first row."""
    not_changed = before * F.col(f"bucket_{weight}")
    behind = (after - before) * F.col(f"{weight}_after")
    return F.sum(F.col(amount) - not_changed + behind).alias(amount)


def _first(name: str) -> Column:
    return F.min_by(name, "at_ms").alias(name)


def _last(name: str) -> Column:
    return F.max_by(name, "at_ms").alias(name)


def _bit(state: str, bit: int) -> Column:
    """1 if the bit is set, else 0."""
    return F.when(F.col(state).bitwiseAND(F.lit(bit)) != 0, 1).otherwise(0).cast("bigint")


def _known(value: Column) -> Column:
    return value.isNotNull().cast("bigint")


def _or_zero(value: Column) -> Column:
    return F.coalesce(value, F.lit(0).cast("bigint"))
