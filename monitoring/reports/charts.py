"""Turns result tables into chart descriptions, which static/app/chart.js draws. Pure.

A description is `{"kind", "unit", "series": [{"name", "x": [epoch ms], "y": [number | null]}]}`.
A bucket without samples is null, so that the line is interrupted there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

Chart = dict[str, Any]
_POINTS_MAX = 2000  # a longer series is a bug


def throughput_and_lag_charts(
    tables: Mapping[str, pa.Table], figures: Mapping[str, Any]
) -> dict[str, Chart]:
    """Charts by name: messages, bytes, lag."""
    width_ms = figures["bucket_ms"]
    topics, groups = tables["topic_series"], tables["group_series"]
    return {
        "messages": _over_time(
            topics, "topic", "messages_per_minute", width_ms, unit="messages/min"
        ),
        "bytes": _over_time(topics, "topic", "bytes_per_minute", width_ms, unit="bytes/min"),
        "lag": _over_time(groups, "group", "lag_max", width_ms, unit="messages"),
    }


def _over_time(table: pa.Table, name: str, value: str, width_ms: int, *, unit: str) -> Chart:
    columns = [table[column].to_pylist() for column in (name, "bucket_ms", value)]
    points: dict[str, dict[int, float | None]] = {}
    for series, at_ms, y in zip(*columns, strict=True):
        points.setdefault(series, {})[at_ms] = y
    starts = columns[1]
    grid = range(min(starts), max(starts) + 1, width_ms) if starts else range(0)
    assert len(grid) <= _POINTS_MAX
    series = [
        {"name": key, "x": list(grid), "y": [rounded(values.get(at_ms)) for at_ms in grid]}
        for key, values in points.items()
        if any(y is not None for y in values.values())
    ]
    return {"kind": "line", "unit": unit, "series": series}


def rounded(value: float | None) -> float | int | None:
    """Rounded to the precision of a chart, for small pages."""
    if value is None or isinstance(value, int):
        return value
    return round(value, 2)
