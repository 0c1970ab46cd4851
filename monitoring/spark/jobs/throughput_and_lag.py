"""The Spark job of the report "Throughput and lag": throughput per topic, lag per group.

It reads the history and returns small Arrow tables, and the figures of the report's headline. A
summary has at most SUMMARY_ROWS_MAX rows (most messages or highest lag first); a series has the
first SERIES_NAMES_MAX names of the summary.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import functions as F

from monitoring.scope import EVERYTHING, Scope
from monitoring.spark import input_schemas
from monitoring.spark.transforms import lag, throughput
from monitoring.spark.transforms.names import within
from monitoring.spark.transforms.time import GAP_STEPS, bucket_ms_for, sampling_interval

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

SUMMARY_ROWS_MAX = 20_000
SERIES_NAMES_MAX = 20
# The stages that the progress page shows; each is one Spark action.
STAGES = ("samples", "topics", "topic_series", "groups", "group_series")


@dataclass(frozen=True, slots=True)
class Request:
    """The input: the range `[from_ms, to_ms)`, the files, and what of them is reported."""

    from_ms: int
    to_ms: int
    partition_files: Sequence[str]
    group_files: Sequence[str]
    scope: Scope = EVERYTHING


@dataclass(frozen=True, slots=True)
class Outcome:
    """`tables` by name (topics, topic_series, groups, group_series); `figures` of the headline."""

    tables: dict[str, pa.Table]
    figures: dict[str, int | float | str | None]


def run(spark: SparkSession, request: Request, on_stage: Callable[[int], None]) -> Outcome:
    """Run the job. Calls `on_stage(i)` before the i-th of STAGES. Raises Spark's errors."""
    on_stage(0)
    partitions = _samples(spark, request, request.partition_files, input_schemas.PARTITION_SAMPLES)
    groups = _samples(spark, request, request.group_files, input_schemas.GROUP_SAMPLES)
    sampling = sampling_interval(partitions.select("at_ms")).toArrow().to_pylist()[0]
    bucket_ms = bucket_ms_for(request.from_ms, request.to_ms)
    gap_ms = GAP_STEPS * (sampling["interval_ms"] or bucket_ms)

    on_stage(1)
    steps = throughput.steps(partitions)
    rates = throughput.series(steps, bucket_ms, gap_ms)
    topics = _first_rows(throughput.summary(steps, rates), "messages", "topic")
    on_stage(2)
    topic_series = _series_of(rates.drop("messages_ms", "bytes_ms"), "topic", topics)
    on_stage(3)
    totals = lag.totals(groups)
    group_rows = _first_rows(lag.summary(totals, gap_ms), "lag_max", "group")
    on_stage(4)
    group_series = _series_of(lag.series(totals, bucket_ms), "group", group_rows)
    figures = {**sampling, "bucket_ms": bucket_ms, "gap_ms": gap_ms, **headline(topics, group_rows)}
    tables = {
        "topics": topics.slice(0, SUMMARY_ROWS_MAX),
        "topic_series": topic_series,
        "groups": group_rows.slice(0, SUMMARY_ROWS_MAX),
        "group_series": group_series,
    }
    return Outcome(tables=tables, figures=figures)


def _samples(
    spark: SparkSession, request: Request, files: Sequence[str], schema: StructType
) -> DataFrame:
    rows = input_schemas.read(spark, files, schema, request.from_ms, request.to_ms)
    return within(rows, request.scope)


def _first_rows(rows: DataFrame, by: str, name: str) -> pa.Table:
    """The first SUMMARY_ROWS_MAX rows, and one more if there are more."""
    ordered = rows.orderBy(F.col(by).desc_nulls_last(), F.col(name))
    return ordered.limit(SUMMARY_ROWS_MAX + 1).toArrow()


def _series_of(rows: DataFrame, name: str, summary: pa.Table) -> pa.Table:
    """The series of the summary's first names, ordered by name and time."""
    names = summary[name].slice(0, SERIES_NAMES_MAX).to_pylist()
    return rows.where(F.col(name).isin(names)).orderBy(name, "bucket_ms").toArrow()


def headline(topics: pa.Table, groups: pa.Table) -> dict[str, int | float | str | None]:
    """The figures of the headline, from the two summaries (sorted, nulls last).

    `messages_least` and `bytes_least`: the sum is incomplete, so it is a lower bound.
    `topics_least` and `groups_least`: there are more topics or groups than were counted.
    """
    topics_least, groups_least = (rows.num_rows > SUMMARY_ROWS_MAX for rows in (topics, groups))
    topics, groups = topics.slice(0, SUMMARY_ROWS_MAX), groups.slice(0, SUMMARY_ROWS_MAX)
    messages = [row for row in topics["messages"].to_pylist() if row is not None]
    sizes = [row for row in topics["bytes"].to_pylist() if row is not None]
    behind = groups.slice(0, 1).to_pylist()
    worst = behind[0] if behind and behind[0]["lag_max"] is not None else None
    return {
        "topics": topics.num_rows,
        "groups": groups.num_rows,
        "topics_least": topics_least,
        "groups_least": groups_least,
        "messages": sum(messages) if messages else None,
        "bytes": sum(sizes) if sizes else None,
        "messages_least": topics_least
        or len(messages) < topics.num_rows
        or _any(topics, "messages_unknown"),
        "bytes_least": topics_least
        or len(sizes) < topics.num_rows
        or _any(topics, "bytes_unknown")
        or _any(topics, "restarts"),
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
