"""The buckets of a level as small DataFrames, to be joined with rows.

No query has a time as a literal: Spark compiles the code of a query once and uses it again for the
next hour, of which only these DataFrames differ.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from monitoring.history.levels import bucket_start


@dataclass(frozen=True, slots=True)
class Bucket:
    """A bucket of a level, from its `ticks`: its samples, and the milliseconds that have a rate.

    A tick of the raw level with status ok is a bucket of one sample and its `step_ms` (null = 0).
    """

    at_ms: int
    samples: int
    rated_ms: int


def buckets_of(ticks: pa.Table, *, is_raw: bool) -> list[Bucket]:
    """The buckets of the ticks table of a level; gaps of raw ticks are skipped."""
    if is_raw:
        rows = zip(*(ticks[n].to_pylist() for n in ("at_ms", "status", "step_ms")), strict=True)
        return [
            Bucket(at_ms, samples=1, rated_ms=step_ms or 0)
            for at_ms, status, step_ms in rows
            if status == "ok"
        ]
    columns = (ticks[name].to_pylist() for name in ("at_ms", "samples", "rated_ms"))
    return [Bucket(*row) for row in zip(*columns, strict=True)]


FINE_COLUMNS = (
    "bucket_at_ms",
    "bucket_samples",
    "bucket_rated_ms",
    "samples_after",
    "rated_ms_after",
)


def fine_buckets(spark: SparkSession, buckets: Sequence[Bucket], bucket_ms: int) -> DataFrame:
    """A row for each bucket: its start, its coarse bucket, its samples and rated milliseconds, and
    those of the later buckets in the same coarse bucket (at_ms and FINE_COLUMNS)."""
    rows = []
    for coarse_at_ms, fine_ones in _by_coarse(buckets, bucket_ms).items():
        samples_after = rated_ms_after = 0
        for fine in reversed(fine_ones):
            after = (samples_after, rated_ms_after)
            rows.append((fine.at_ms, coarse_at_ms, fine.samples, fine.rated_ms, *after))
            samples_after += fine.samples
            rated_ms_after += fine.rated_ms
    return _data_frame(spark, ("at_ms", *FINE_COLUMNS), rows)


def coarse_buckets(
    spark: SparkSession,
    buckets: Sequence[Bucket],
    bucket_ms: int,
    keep_repeated_until_ms: int | None,
) -> DataFrame:
    """A row for each coarse bucket, with its totals and the first bucket in it that has samples.

    bucket_at_ms, total_samples, total_rated_ms, first_sampled_ms (−1 = none), keeps_repeated (1 if
    it starts before `keep_repeated_until_ms`; None = never ends).
    """
    until_ms = keep_repeated_until_ms
    rows = [
        (
            coarse_at_ms,
            sum(fine.samples for fine in fine_ones),
            sum(fine.rated_ms for fine in fine_ones),
            next((fine.at_ms for fine in fine_ones if fine.samples), -1),
            int(until_ms is None or coarse_at_ms < until_ms),
        )
        for coarse_at_ms, fine_ones in _by_coarse(buckets, bucket_ms).items()
    ]
    names = ("total_samples", "total_rated_ms", "first_sampled_ms", "keeps_repeated")
    return _data_frame(spark, ("bucket_at_ms", *names), rows)


def _by_coarse(buckets: Sequence[Bucket], bucket_ms: int) -> dict[int, list[Bucket]]:
    found: dict[int, list[Bucket]] = defaultdict(list)
    for bucket in sorted(buckets, key=lambda bucket: bucket.at_ms):
        found[bucket_start(bucket.at_ms, bucket_ms)].append(bucket)
    return found


def _data_frame(
    spark: SparkSession, names: Sequence[str], rows: Sequence[tuple[int, ...]]
) -> DataFrame:
    if not rows:  # of an empty Arrow table Connect knows no schema
        empty = spark.createDataFrame([], ", ".join(f"{name} bigint" for name in names))
        return empty.coalesce(1)
    arrays = [pa.array(column, pa.int64()) for column in zip(*rows, strict=True)]
    return spark.createDataFrame(pa.table(arrays, names=list(names))).coalesce(1)
