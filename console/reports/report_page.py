"""What the page of a report shows of its result: figures, texts, charts, the first rows of tables.

Two other limits are in the Spark job (monitoring/spark/jobs/throughput_and_lag.py): a stored table
has at most SUMMARY_ROWS_MAX rows, a series has at most SERIES_NAMES_MAX topics or groups.
"""

from typing import Any

from console.reports import texts
from monitoring.reports import result_files
from monitoring.reports.models import Report

TABLE_ROWS_SHOWN = 50  # of each table; a download has all stored rows


def result(report: Report) -> dict[str, Any]:
    """The context of a finished report. Raises ResultMissing or OSError."""
    found = result_files.read(report.result_dir)
    return {
        "figures": found.figures,
        "finding": texts.finding(found.figures),
        "advice": texts.advice(found.figures),
        "left_out": texts.left_out(found.figures),
        "written": texts.written(found.figures),
        "groups_left_out": texts.groups_left_out(found.figures),
        "charts": found.charts,
        "topics": [_topic_row(row) for row in found.table("topics", TABLE_ROWS_SHOWN)],
        "groups": [_group_row(row) for row in found.table("groups", TABLE_ROWS_SHOWN)],
        "rows": found.rows,
        "rows_shown": TABLE_ROWS_SHOWN,
        "bucket_s": found.figures["bucket_ms"] / 1000,
    }


def _topic_row(row: dict[str, Any]) -> dict[str, Any]:
    return row | {"peak_at": texts.minute(row["messages_peak_at_ms"])}


def _group_row(row: dict[str, Any]) -> dict[str, Any]:
    """A group's row with durations in seconds, and the share of time that it was behind."""
    durations_s = {
        f"{name}_s": None if row[f"{name}_ms"] is None else row[f"{name}_ms"] / 1000
        for name in ("over_zero", "known")
    }
    known_s, over_zero_s = durations_s["known_s"], durations_s["over_zero_s"]
    share = over_zero_s / known_s if known_s and over_zero_s is not None else None
    return (
        row | durations_s | {"behind_share": share, "worst_at": texts.minute(row["lag_max_at_ms"])}
    )
