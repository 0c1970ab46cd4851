"""Reads how many ticks each level of a cluster has, by hour and day, from the `ticks` tables.

due_jobs.py compares the numbers of two levels.
"""

from __future__ import annotations

from collections import Counter

import pyarrow.compute as pc

from monitoring.history.levels import (
    DAY,
    DAY_MS,
    HOUR,
    HOUR_MS,
    MINUTE,
    RAW,
    Level,
    bucket_start,
)
from monitoring.history.manifest import Files
from monitoring.history.parquet_files import read_file
from monitoring.history.root_folder import FileStamp, Root
from monitoring.history.table_specs import LEVEL_TICKS, TICKS
from monitoring.pipeline.due_jobs import TickCounts


def read_tick_counts(root: Root, listed: Files) -> TickCounts:
    """The counts since the first day with raw ticks or minutes. Older hours are not checked."""
    raw: Counter[int] = Counter()
    for span_folder, of_span in listed.items():
        if span_folder.level is RAW:
            raw[span_folder.start_ms] += sum(file.rows for file in of_span if file.table == TICKS)
    raw = +raw  # without the hours that have no ticks
    starts = [
        span_folder.start_ms
        for span_folder, of_span in listed.items()
        if span_folder.level is MINUTE and of_span
    ]
    first_ms = bucket_start(min([*raw, *starts], default=0), DAY_MS)
    return TickCounts(
        raw,
        _ticks_of_level(root, listed, MINUTE, first_ms),
        _ticks_of_level(root, listed, HOUR, first_ms),
        _ticks_of_level(root, listed, DAY, first_ms),
    )


def _ticks_of_level(root: Root, listed: Files, level: Level, first_ms: int) -> dict[int, int]:
    """Hour (of the day level: day) → ticks."""
    unit_ms = max(level.bucket_ms, HOUR_MS)
    found: Counter[int] = Counter()
    for span_folder, of_span in listed.items():
        if span_folder.level is level and span_folder.end_ms > first_ms:
            for file in of_span:
                if file.table == TICKS and file.max_at_ms >= first_ms:
                    path = root.path(*span_folder.folder, file.name)
                    found.update(_ticks_of_file(root, path, unit_ms))
    return dict(found)


_counts_of_files: dict[tuple[FileStamp, int], dict[int, int]] = {}
_CACHED_FILES_MAX = 50_000


def _ticks_of_file(root: Root, path: str, unit_ms: int) -> dict[int, int]:
    key = root.stamp(path), unit_ms
    counted = _counts_of_files.get(key)
    if counted is not None:
        return counted
    rows = read_file(root, path, LEVEL_TICKS)
    counts = pc.add(rows["samples"], rows["gaps"]).to_pylist()
    found: Counter[int] = Counter()
    for at_ms, ticks in zip(rows["at_ms"].to_pylist(), counts, strict=True):
        found[bucket_start(at_ms, unit_ms)] += ticks
    if len(_counts_of_files) >= _CACHED_FILES_MAX:
        _counts_of_files.clear()
    return _counts_of_files.setdefault(key, dict(found))
