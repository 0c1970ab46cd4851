"""What a report reads: files and buckets of the level that fits the length of its buckets."""

from __future__ import annotations

import numpy as np

from monitoring.history import read_levels
from monitoring.history.level_choice import LevelRange
from monitoring.history.levels import LEVELS, RAW, Level, bucket_start
from monitoring.history.points import level_for
from monitoring.history.root_folder import Root, current
from monitoring.history.table_specs import GROUP_TOPICS, GROUPS, TOPICS
from monitoring.spark.jobs.throughput_and_lag import Part
from monitoring.spark.transforms.buckets import buckets_of
from monitoring.spark.transforms.report_bucket_length import bucket_ms_for

_TABLES = (TOPICS.name, GROUPS.name, GROUP_TOPICS.name)


def report_parts(slug: str, from_ms: int, to_ms: int) -> list[Part]:
    """The parts of the range, oldest first. Raises OSError if the history is not available."""
    root, coarsest = current(), level_for(bucket_ms_for(from_ms, to_ms))
    return [
        _part(root, slug, level_range)
        for level_range in read_levels.parts(root, slug, from_ms, to_ms, coarsest)
    ]


def left_out(slug: str, from_ms: int, to_ms: int) -> list[LevelRange]:
    """The parts of the range that only levels store whose buckets are too long for this report, one
    for each level. Each is from its first to its last bucket with samples."""
    root, coarsest = current(), level_for(bucket_ms_for(from_ms, to_ms))
    found = []
    for level in LEVELS[LEVELS.index(coarsest) + 1 :]:
        starts = _only_in(root, slug, level, from_ms, to_ms)
        if len(starts):
            end_ms = int(starts[-1]) + level.bucket_ms
            found.append(LevelRange(level, max(int(starts[0]), from_ms), min(end_ms, to_ms)))
    return found


def _only_in(root: Root, slug: str, level: Level, from_ms: int, to_ms: int) -> np.ndarray:
    """The starts of the level's buckets in the range that have samples, but no finer rows: those
    that have are of another part of the bucket than the range, or the report reads them."""
    first_ms = bucket_start(from_ms, level.bucket_ms)
    end_ms = bucket_start(to_ms - 1, level.bucket_ms) + level.bucket_ms
    ticks = read_levels.ticks(root, slug, level, first_ms, end_ms)
    starts: np.ndarray = ticks["at_ms"].to_numpy()[ticks["samples"].to_numpy() > 0]
    for finer in reversed(LEVELS[: LEVELS.index(level)]):
        if not len(starts):
            break
        last_end_ms = int(starts[-1]) + level.bucket_ms
        times = read_levels.ticks(root, slug, finer, int(starts[0]), last_end_ms)[
            "at_ms"
        ].to_numpy()
        starts = np.setdiff1d(starts, times - times % level.bucket_ms)
    return starts


def _part(root: Root, slug: str, level_range: LevelRange) -> Part:
    level, to_ms = level_range.level, level_range.to_ms
    start_ms = level.all_keys_start_ms(level_range.from_ms)
    ticks = read_levels.ticks(root, slug, level, start_ms, to_ms)
    range_ms = start_ms, to_ms
    return Part(
        is_raw=level is RAW,
        from_ms=level_range.from_ms,
        to_ms=to_ms,
        buckets=buckets_of(ticks, is_raw=level is RAW),
        files={name: read_levels.locations(root, slug, level, name, *range_ms) for name in _TABLES},
        rows=sum(
            file.rows
            for name in _TABLES
            for _, file in read_levels.files(root, slug, level, name, *range_ms)
        ),
    )
