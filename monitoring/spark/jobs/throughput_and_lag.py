"""The Spark job of the report "Throughput and lag": throughput per topic, lag per group.

It reads the levels of the history and returns small Arrow tables, and the figures of the report's
headline. The figures are the same from whatever level they are read. A summary has at most
SUMMARY_ROWS_MAX rows (most messages or highest lag first); a series has the first SERIES_NAMES_MAX
names of the summary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F

from monitoring.history.bucket_values import Buckets
from monitoring.history.levels import bucket_start
from monitoring.history.table_specs import GROUP_TOPICS, GROUPS, TOPICS, Table
from monitoring.scope import EVERYTHING, Scope
from monitoring.spark.history_tables import configure, read
from monitoring.spark.transforms import report_series, report_summaries
from monitoring.spark.transforms.buckets import Bucket
from monitoring.spark.transforms.report_bucket_length import bucket_ms_for
from monitoring.spark.transforms.roll_up import from_raw, roll_up
from monitoring.spark.transforms.scope_as_spark import shows_topic, within
from monitoring.spark.transforms.unchanged_rows import rows_held_at

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SUMMARY_ROWS_MAX = 20_000
SERIES_NAMES_MAX = 20
LEFT_OUT_NAMES_MAX = 20
# The columns that the report needs; the bits of counters are those of their places.
_TOPICS = replace(
    TOPICS, facts={"partitions": pa.int32()}, gauges=(), counters=("records", "bytes_in")
)
_GROUPS = replace(GROUPS, facts={"ahead": pa.int32()}, gauges=("lag", "behind"), counters=())
_RANGE_BUCKET_MS = 1 << 52  # longer than any range, so that the range is one bucket


@dataclass(frozen=True, slots=True)
class Part:
    """What is read from one level.

    `files` by table and `buckets` begin at `from_ms` or before, at a time at which each key has a
    row. `rows` is the number of rows of all files; None = not known.
    """

    is_raw: bool
    from_ms: int
    to_ms: int
    buckets: Sequence[Bucket]
    files: Mapping[str, Sequence[str]]
    rows: int | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """The range `[from_ms, to_ms)`, the parts that it is read from, and the scope of the report."""

    from_ms: int
    to_ms: int
    parts: Sequence[Part]
    scope: Scope = EVERYTHING

    @property
    def buckets(self) -> list[Bucket]:
        """The buckets of all parts, within the range."""
        return [
            bucket
            for part in self.parts
            for bucket in part.buckets
            if part.from_ms <= bucket.at_ms < part.to_ms
        ]

    @property
    def rows(self) -> int | None:
        """The number of rows of all parts; None = not known."""
        counts = [part.rows for part in self.parts if part.rows is not None]
        return sum(counts) if len(counts) == len(self.parts) else None


@dataclass(frozen=True, slots=True)
class Outcome:
    """`tables` by name (topics, topic_series, groups, group_series); `figures` of the headline,
    values of JSON."""

    tables: dict[str, pa.Table]
    figures: dict[str, Any]


def run(spark: SparkSession, request: Request, on_stage: Callable[[int], None]) -> Outcome:
    """Run the job. Calls `on_stage(i)` before the i-th stage, a Spark action (reports/kinds.py has
    their names). Raises Spark's errors."""
    on_stage(0)
    configure(spark, request.rows)
    bucket_ms = bucket_ms_for(request.from_ms, request.to_ms)
    buckets = request.buckets
    sample_figures = _sample_figures(buckets)
    on_stage(1)
    with _rolled_up(spark, request, _TOPICS, bucket_ms) as rolled_up:
        found = report_summaries.topics(rolled_up.whole, rolled_up.in_buckets)
        topics = _first_rows(found, "messages", "topic")
        on_stage(2)
        topic_series = _topic_series(rolled_up, topics)
    on_stage(3)
    with _rolled_up(spark, request, _GROUPS, bucket_ms) as rolled_up:
        step_ms = sample_figures["interval_ms"] or 0
        found = report_summaries.groups(rolled_up.whole, rolled_up.in_buckets, step_ms)
        groups = _first_rows(found, "lag_max", "group")
        on_stage(4)
        group_series = _group_series(rolled_up, groups)
    figures = {
        **sample_figures,
        "bucket_ms": bucket_ms,
        **headline(topics, groups),
        **_left_out(spark, request),
    }
    tables = {
        "topics": topics.slice(0, SUMMARY_ROWS_MAX),
        "topic_series": topic_series,
        "groups": groups.slice(0, SUMMARY_ROWS_MAX),
        "group_series": group_series,
    }
    return Outcome(tables=tables, figures=figures)


@dataclass(frozen=True, slots=True)
class _RolledUpTable:
    """A table of the history, rolled up to the buckets of the report and to the whole range."""

    buckets: Sequence[Bucket]
    in_buckets: DataFrame
    whole: DataFrame

    def dense_buckets(self) -> Buckets:
        """The buckets of the report."""
        at_ms, samples, rated_ms = (
            np.array([getattr(bucket, name) for bucket in self.buckets], dtype=np.int64)
            for name in ("at_ms", "samples", "rated_ms")
        )
        return Buckets(at_ms, samples, rated_ms)

    def rows_of(self, name: str, names: Sequence[str]) -> dict[str, pa.Table]:
        """The rows of some names, in the order of time."""
        if not names:
            return {}
        found = self.in_buckets.where(F.col(name).isin(list(names))).toArrow().sort_by("at_ms")
        return {key: found.filter(pc.field(name) == key) for key in names}


@contextmanager
def _rolled_up(
    spark: SparkSession, request: Request, table: Table, bucket_ms: int
) -> Iterator[_RolledUpTable]:
    """Cached in Spark until the end: several queries need it."""
    rows, buckets = _rows(spark, request, table)
    in_buckets = roll_up(rows, table, buckets, bucket_ms).persist()
    sums: dict[int, Bucket] = {}
    for bucket in request.buckets:
        at_ms = bucket_start(bucket.at_ms, bucket_ms)
        before = sums.get(at_ms, Bucket(at_ms, samples=0, rated_ms=0))
        sums[at_ms] = Bucket(
            at_ms, before.samples + bucket.samples, before.rated_ms + bucket.rated_ms
        )
    report_buckets = [sums[at_ms] for at_ms in sorted(sums)]
    try:
        whole = roll_up(in_buckets, table, report_buckets, _RANGE_BUCKET_MS)
        yield _RolledUpTable(report_buckets, in_buckets, whole)
    finally:
        in_buckets.unpersist()


def _rows(spark: SparkSession, request: Request, table: Table) -> tuple[DataFrame, list[Bucket]]:
    """The rows of all parts as rows of a level, and their buckets."""
    found: DataFrame | None = None
    buckets = request.buckets
    for part in request.parts:
        rows = _visible(spark, request, table, part)
        if part.is_raw:
            rows = from_raw(rows, table, part.buckets)
        else:  # files of levels have all columns of the table
            rows = rows.select(table.level_schema.names)
        inside = rows.where(F.col("at_ms") >= part.from_ms).where(F.col("at_ms") < part.to_ms)
        if found is None and buckets and any(b.at_ms < part.from_ms for b in part.buckets):
            first_ms = buckets[0].at_ms
            before = rows.where(F.col("at_ms") < part.from_ms)
            changed = inside.where(F.col("at_ms") == first_ms).select(*table.keys)
            held = rows_held_at(before, table, first_ms + 1)
            inside = inside.unionByName(held.join(changed, list(table.keys), "left_anti"))
            buckets.append(Bucket(first_ms + 1, samples=0, rated_ms=0))
        found = inside if found is None else found.unionByName(inside)
    if found is None:
        found = from_raw(read(spark, table.name, files=[], is_raw=True), table, ticks=[])
    return found, buckets


def _visible(spark: SparkSession, request: Request, table: Table, part: Part) -> DataFrame:
    """The rows that the scope shows. A group that reads a topic outside it is left out: its sums
    have parts that must not be shown."""
    rows = within(_read(spark, request, table, part), request.scope)
    if table is not _GROUPS or request.scope == EVERYTHING:
        return rows
    for other in request.parts:
        rows = rows.join(_groups_left_out(spark, request, other), "group", "left_anti")
    return rows


def _groups_left_out(spark: SparkSession, request: Request, part: Part) -> DataFrame:
    """The groups of a part that read a topic outside the scope."""
    group_topics = _read(spark, request, GROUP_TOPICS, part)
    is_hidden = ~shows_topic(F.col("topic"), request.scope)
    return group_topics.where(is_hidden).select("group").distinct()


def _left_out(spark: SparkSession, request: Request) -> dict[str, int | list[str]]:
    """How many groups of the scope are left out (at most SUMMARY_ROWS_MAX are counted), and the
    names of the first ones."""
    if request.scope == EVERYTHING or not request.parts:
        return {"groups_left_out": 0}
    every = (_groups_left_out(spark, request, part) for part in request.parts)
    found = reduce(lambda groups, others: groups.union(others), every)
    shown = within(found, request.scope).distinct()
    names = shown.orderBy("group").limit(SUMMARY_ROWS_MAX).toArrow()["group"].to_pylist()
    return {
        "groups_left_out": len(names),
        "groups_left_out_names": names[:LEFT_OUT_NAMES_MAX],
    }


def _read(spark: SparkSession, request: Request, table: Table, part: Part) -> DataFrame:
    files = part.files[table.name]
    return read(spark, table.name, files, is_raw=part.is_raw, rows=request.rows)


def _sample_figures(buckets: Sequence[Bucket]) -> dict[str, int | None]:
    """ticks, first_at_ms, last_at_ms, interval_ms (the mean step; None = there is none)."""
    ticks = sum(bucket.samples for bucket in buckets)
    times = [bucket.at_ms for bucket in buckets if bucket.samples]
    rated_ms = sum(bucket.rated_ms for bucket in buckets)
    return {
        "ticks": ticks,
        "first_at_ms": min(times, default=None),
        "last_at_ms": max(times, default=None),
        "interval_ms": round(rated_ms / max(ticks - 1, 1)) or None,
    }


def _first_rows(rows: DataFrame, by: str, name: str) -> pa.Table:
    """The first SUMMARY_ROWS_MAX rows, and one more if there are more."""
    ordered = rows.orderBy(F.col(by).desc_nulls_last(), F.col(name))
    return ordered.limit(SUMMARY_ROWS_MAX + 1).toArrow()


def _topic_series(rolled_up: _RolledUpTable, topics: pa.Table) -> pa.Table:
    """The series of the first topics."""
    names = topics["topic"].slice(0, SERIES_NAMES_MAX).to_pylist()
    rows = rolled_up.rows_of("topic", names)
    return report_series.topics(rows, _TOPICS, rolled_up.dense_buckets())


def _group_series(rolled_up: _RolledUpTable, groups: pa.Table) -> pa.Table:
    """The series of the first groups."""
    names = groups["group"].slice(0, SERIES_NAMES_MAX).to_pylist()
    return report_series.groups(rolled_up.rows_of("group", names), rolled_up.dense_buckets())


def headline(topics: pa.Table, groups: pa.Table) -> dict[str, int | float | str | None]:
    """The figures of the headline, from the two summaries (sorted, nulls last).

    `messages_least` and `bytes_least`: the sum is incomplete, so it is a lower bound.
    `topics_least`: there are more topics than were counted.
    """
    topics_least = topics.num_rows > SUMMARY_ROWS_MAX
    topics, groups = topics.slice(0, SUMMARY_ROWS_MAX), groups.slice(0, SUMMARY_ROWS_MAX)
    messages = [row for row in topics["messages"].to_pylist() if row is not None]
    sizes = [row for row in topics["bytes"].to_pylist() if row is not None]
    behind = groups.slice(0, 1).to_pylist()
    worst = behind[0] if behind and behind[0]["lag_max"] is not None else None
    return {
        "topics": topics.num_rows,
        "groups": groups.num_rows,
        "topics_least": topics_least,
        "messages": sum(messages) if messages else None,
        "bytes": sum(sizes) if sizes else None,
        "messages_least": topics_least
        or len(messages) < topics.num_rows
        or _any(topics, "messages_unknown"),
        "bytes_least": topics_least
        or len(sizes) < topics.num_rows
        or _any(topics, "bytes_unknown"),
        "busiest_topic": topics["topic"][0].as_py() if messages else None,
        "busiest_messages": messages[0] if messages else None,
        "worst_group": worst["group"] if worst else None,
        "worst_lag": worst["lag_max"] if worst else None,
        "worst_lag_at_ms": worst["lag_max_at_ms"] if worst else None,
        "worst_lag_last": worst["lag_last"] if worst else None,
        "groups_ahead": sum(1 for most in groups["ahead_max"].to_pylist() if most),
    }


def _any(topics: pa.Table, column: str) -> bool:
    return any(topics[column].to_pylist())
