"""What a report reads: files and buckets of the level that fits the length of its buckets."""

from __future__ import annotations

from monitoring.history import reader
from monitoring.history.level_choice import LevelRange
from monitoring.history.levels import LEVELS, RAW, Level, bucket_start
from monitoring.history.points import level_for
from monitoring.history.root_folder import Root, current
from monitoring.history.table_specs import GROUP_TOPICS, GROUPS, TOPICS
from monitoring.spark.jobs.throughput_and_lag import Part
from monitoring.spark.transforms.bucket_length import bucket_ms_for
from monitoring.spark.transforms.buckets import buckets_of

_TABLES = (TOPICS.name, GROUPS.name, GROUP_TOPICS.name)


def report_parts(slug: str, from_ms: int, to_ms: int) -> list[Part]:
    """The parts of the range, oldest first. Raises OSError if the history is not available."""
    root, coarsest = current(), level_for(bucket_ms_for(from_ms, to_ms))
    return [
        _part(root, slug, level_range)
        for level_range in reader.parts(root, slug, from_ms, to_ms, coarsest)
    ]


def only_level(slug: str, from_ms: int, to_ms: int) -> Level | None:
    """The level that alone still has the samples of a range that is too short to be read from it.

    None = the report can read what is stored, or nothing was sampled in the range.
    """
    root, coarsest = current(), level_for(bucket_ms_for(from_ms, to_ms))
    for level in LEVELS[LEVELS.index(coarsest) + 1 :]:
        start_ms = bucket_start(from_ms, level.bucket_ms)
        end_ms = bucket_start(to_ms - 1, level.bucket_ms) + level.bucket_ms
        finer = LEVELS[: LEVELS.index(level)]
        # If these buckets have finer rows, they are of another part of them than the range.
        if any(len(reader.ticks(root, slug, each, start_ms, end_ms)) for each in finer):
            return None
        if any(reader.ticks(root, slug, level, start_ms, end_ms)["samples"].to_pylist()):
            return level
    return None


def _part(root: Root, slug: str, level_range: LevelRange) -> Part:
    level, to_ms = level_range.level, level_range.to_ms
    start_ms = level.all_keys_start_ms(level_range.from_ms)
    ticks = reader.ticks(root, slug, level, start_ms, to_ms)
    range_ms = start_ms, to_ms
    return Part(
        is_raw=level is RAW,
        from_ms=level_range.from_ms,
        to_ms=to_ms,
        buckets=buckets_of(ticks, is_raw=level is RAW),
        files={name: reader.locations(root, slug, level, name, *range_ms) for name in _TABLES},
        rows=sum(
            file.rows
            for name in _TABLES
            for _, file in reader.files(root, slug, level, name, *range_ms)
        ),
    )
