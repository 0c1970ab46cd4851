"""The kinds of reports, their parameters, and the Spark jobs that compute them.

A new kind needs an entry in KINDS, a job in monitoring/spark/jobs, charts in charts.py and texts in
console/reports/texts.py.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from monitoring.history import written_range
from monitoring.history.root_folder import current
from monitoring.redis_client import RedisDown
from monitoring.reports.charts import Chart, throughput_and_lag_charts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from monitoring.history.level_choice import LevelRange
    from monitoring.reports.models import Report
    from monitoring.spark.jobs.throughput_and_lag import Outcome

THROUGHPUT_AND_LAG = "throughput-and-lag"
RANGE_MS_MIN = 60_000
RANGE_MS_MAX = 400 * 24 * 3_600_000
# 9999-12-31, the end of Python's datetime.
_TIME_MS_MAX = 253_402_300_799_000
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ReportKind:
    """A kind of report. `compute` imports Spark itself, so that web processes do not load it."""

    stages: tuple[str, ...]  # names of the steps of the job, which the progress page shows
    compute: Callable[[SparkSession, Report, Callable[[int], None]], Outcome]
    charts: Callable[[Mapping[str, pa.Table], Mapping[str, Any]], dict[str, Chart]]


def validated_range(params: Mapping[str, Any]) -> dict[str, int]:
    """`from_ms` and `to_ms` of a report. Raises ValueError with an error code."""
    from_ms, to_ms = params.get("from_ms"), params.get("to_ms")
    if not (isinstance(from_ms, int) and isinstance(to_ms, int)):
        raise ValueError("missing")
    if not 0 <= from_ms <= _TIME_MS_MAX or not 0 <= to_ms <= _TIME_MS_MAX:
        raise ValueError("out_of_range")
    if to_ms - from_ms < RANGE_MS_MIN:
        raise ValueError("too_short")
    if to_ms - from_ms > RANGE_MS_MAX:
        raise ValueError("too_long")
    return {"from_ms": from_ms, "to_ms": to_ms}


def _throughput_and_lag(
    spark: SparkSession, report: Report, on_stage: Callable[[int], None]
) -> Outcome:
    from monitoring.reports.report_input import left_out, report_parts
    from monitoring.spark.jobs.throughput_and_lag import Request, run
    from monitoring.spark.transforms.report_bucket_length import longest_range_ms_below

    from_ms, to_ms = report.params["from_ms"], report.params["to_ms"]
    _store_newest_samples(report)
    parts = report_parts(report.cluster.slug, from_ms, to_ms)
    outcome = run(spark, Request(from_ms, to_ms, parts, report.scope), on_stage)
    missing = left_out(report.cluster.slug, from_ms, to_ms)
    if missing and not outcome.figures["ticks"]:
        level = missing[0].level
        outcome.figures["only_level"] = level.name
        outcome.figures["longest_too_short_ms"] = longest_range_ms_below(level.bucket_ms)
    elif missing:
        outcome.figures["left_out"] = [_left_out_figures(part) for part in missing]
    if written := written_range.overlapping(current(), report.cluster.slug, from_ms, to_ms):
        outcome.figures.update(written_from_ms=written.from_ms, written_to_ms=written.to_ms)
    return outcome


def _left_out_figures(part: LevelRange) -> dict[str, Any]:
    from monitoring.spark.transforms.report_bucket_length import longest_range_ms_below

    return {
        "level": part.level.name,
        "from_ms": part.from_ms,
        "to_ms": part.to_ms,
        "longest_too_short_ms": longest_range_ms_below(part.level.bucket_ms),
    }


def _store_newest_samples(report: Report) -> None:
    """Flush the newest ticks to the history; if that fails, the report is made without them."""
    from monitoring.history import locked_writer

    try:
        is_flushed = locked_writer.flush([report.cluster.slug])
        why = "" if is_flushed else "another worker writes the history"
    except RedisDown as error:
        why = str(error)
    if why:
        _log.warning("report %s lacks the newest samples: %s", report.id, why)


KINDS = {
    THROUGHPUT_AND_LAG: ReportKind(
        stages=("samples", "topics", "topic_series", "groups", "group_series"),
        compute=_throughput_and_lag,
        charts=throughput_and_lag_charts,
    )
}
