"""Reads from the manifests and `ticks` tables what the levels of a cluster have (due_jobs.py)."""

from __future__ import annotations

from collections import Counter

import pyarrow.compute as pc
from django.conf import settings

from monitoring.history import manifest
from monitoring.history.levels import (
    DAY,
    DAY_MS,
    HOUR,
    HOUR_MS,
    LEVELS,
    MINUTE,
    RAW,
    Level,
    bucket_start,
)
from monitoring.history.manifest import HistoryFile
from monitoring.history.root import Place, Root
from monitoring.history.stored_rows import read_file
from monitoring.history.table_specs import LEVEL_TICKS, TICKS
from monitoring.pipeline.due_jobs import Coverage

Files = dict[Place, tuple[HistoryFile, ...]]


def files(root: Root, slug: str) -> Files:
    """The files of all levels of a cluster, by place; oldest place first."""
    return {
        place: manifest.load(root, place).files
        for level in LEVELS
        for place in manifest.places(root, slug, level)
    }


def coverage(root: Root, listed: Files) -> Coverage:
    """What the levels have, from the first raw tick or minute on; older hours stay as they are."""
    raw: Counter[int] = Counter()
    for place, of_place in listed.items():
        if place.level is RAW:
            raw[place.start_ms] += sum(file.rows for file in of_place if file.table == TICKS)
    raw = +raw
    starts = [place.start_ms for place, of in listed.items() if place.level is MINUTE and of]
    first_ms = bucket_start(min([*raw, *starts], default=0), DAY_MS)
    return Coverage(
        raw,
        _ticks(root, listed, MINUTE, first_ms),
        _ticks(root, listed, HOUR, first_ms),
        _ticks(root, listed, DAY, first_ms),
    )


def kept_from_ms(level: Level, now_ms: int) -> int:
    """The start of what the level keeps, by its setting."""
    retention_ms = getattr(settings, level.retention_setting) * level.retention_unit_ms
    return now_ms - retention_ms if retention_ms else 0


def _ticks(root: Root, listed: Files, level: Level, first_ms: int) -> dict[int, int]:
    """Hour (of the day level: day) → ticks."""
    unit_ms = max(level.bucket_ms, HOUR_MS)
    found: Counter[int] = Counter()
    for place, of_place in listed.items():
        if place.level is level and place.end_ms > first_ms:
            for file in of_place:
                if file.table == TICKS and file.max_at_ms >= first_ms:
                    path = root.path(*place.folder, file.name)
                    found.update(_ticks_of(root, path, unit_ms))
    return dict(found)


# A file of these levels is written once under its name, so its figures stay.
_known: dict[tuple[str, int], dict[int, int]] = {}
_KNOWN_MAX = 50_000


def _ticks_of(root: Root, path: str, unit_ms: int) -> dict[int, int]:
    known = _known.get((path, unit_ms))
    if known is not None:
        return known
    rows = read_file(root, path, LEVEL_TICKS)
    counts = pc.add(rows["samples"], rows["gaps"]).to_pylist()
    found: Counter[int] = Counter()
    for at_ms, ticks in zip(rows["at_ms"].to_pylist(), counts, strict=True):
        found[bucket_start(at_ms, unit_ms)] += ticks
    if len(_known) >= _KNOWN_MAX:
        _known.clear()
    return _known.setdefault((path, unit_ms), dict(found))
