"""Writes history of the time before the first recorded hour from a pattern day, and removes it.

Spark rolls the pattern day up once, as the pipeline does; its files are then written for each day
of the range, as long as the levels keep them. The last day ends where the recorded history begins.
Hours that are recorded are never written.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from monitoring.history import append_ticks, manifest, read_levels, written_range
from monitoring.history.levels import (
    DAY,
    DAY_MS,
    HOUR,
    HOUR_MS,
    LEVELS,
    MINUTE,
    RAW,
    SOURCE_OF,
    Level,
    bucket_start,
)
from monitoring.history.parquet_files import read_file
from monitoring.history.root_folder import Root, SpanFolder
from monitoring.history.table_specs import TABLES, TICKS, schema_of
from monitoring.history.written_range import WrittenRange
from monitoring.pipeline.delete_expired_history import kept_from_ms
from monitoring.pipeline.do_job import coarser_ticks
from monitoring.pipeline.workspace import Workspace, opened
from monitoring.written_history.pattern import (
    Hour,
    RowsByTable,
    cut_day,
    hours_used,
    is_complete,
    is_steady,
    shifted,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from monitoring.spark.jobs.time_slices import SourceFile

ROWS_MAX = 4_000_000  # of a pattern day: they are in memory
_AT_ONCE = 4  # queries of Spark
_ATTEMPTS = 5  # if a worker writes the same manifest
LevelTables = dict[Level, dict[str, pa.Table]]


class CannotWrite(Exception):
    """The history cannot be written or removed; the text says why and what to do."""


def range_before(root: Root, slug: str, days: int, now_ms: int) -> tuple[int, int]:
    """The start and end of the `days` before what is recorded, from the start of a day."""
    to_ms = _first_recorded_ms(root, slug)
    if to_ms is None:
        to_ms = bucket_start(now_ms, HOUR_MS)
    return bucket_start(to_ms - days * DAY_MS, DAY_MS), to_ms


def _first_recorded_ms(root: Root, slug: str) -> int | None:
    """The start of the first hour (of the day level: day) that any level has; None = no history."""
    starts = []
    for level in LEVELS:
        for span_folder in manifest.span_folders(root, slug, level):
            if files := manifest.load(root, span_folder).files:
                starts.append(min(bucket_start(file.min_at_ms, HOUR_MS) for file in files))
                break
    if not starts:
        return None
    first_ms = min(starts)
    # The day of the first hour has a row of the day level, which begins before that hour.
    hours = [
        bucket_start(ticks["at_ms"][0].as_py(), HOUR_MS)
        for level in (RAW, MINUTE, HOUR)
        if len(ticks := read_levels.ticks(root, slug, level, first_ms, first_ms + DAY_MS))
    ]
    return min(hours, default=first_ms)


def recorded_hours(root: Root, slug: str, now_ms: int) -> list[Hour]:
    """The newest complete hours of the raw level in which nothing appears or disappears, oldest
    first: as many as make a day of equal parts; none if there is no such hour.

    Raises CannotWrite if they have too many rows.
    """
    found: list[Hour] = []
    for span_folder in reversed(manifest.span_folders(root, slug, RAW)):
        is_next = not found or span_folder.end_ms == found[-1].start_ms
        tables = (
            _steady_hour(root, span_folder) if is_next and span_folder.end_ms <= now_ms else None
        )
        if tables is not None:
            found.append(Hour(span_folder.start_ms, tables))
        if len(found) == DAY_MS // HOUR_MS or (found and tables is None):
            break
    used = list(reversed(found[: hours_used(len(found))])) if found else []
    if used:
        check_rows(sum(_row_count(hour.tables) for hour in used) * (24 // len(used)))
    return used


def _steady_hour(root: Root, span_folder: SpanFolder) -> RowsByTable | None:
    """The rows of a complete, steady hour; else None."""
    ticks = read_levels.ticks(root, span_folder.slug, RAW, span_folder.start_ms, span_folder.end_ms)
    if not is_complete(ticks, span_folder.start_ms):
        return None
    listed = manifest.load(root, span_folder)
    check_rows(sum(file.rows for file in listed.files))
    tables = {TICKS: ticks}
    for name in TABLES:
        schema = schema_of(name, is_raw=True)
        files = listed.of(name)
        if not files:
            continue
        parts = [
            read_file(root, root.path(*span_folder.folder, file.name), schema) for file in files
        ]
        tables[name] = pa.concat_tables(parts).unify_dictionaries()
        if not is_steady(tables[name]):
            return None
    return tables


def _row_count(tables: RowsByTable) -> int:
    return sum(map(len, tables.values()))


def check_rows(count: int) -> None:
    """Raises CannotWrite if a day of so many raw rows is too large for a pattern."""
    if count > ROWS_MAX:
        raise CannotWrite(
            f"a day of this cluster has {count:,} rows, and at most {ROWS_MAX:,} can be a pattern: "
            "written history is for small clusters"
        )


def write(
    spark: SparkSession, root: Root, slug: str, day: RowsByTable, day_ms: int,
    planned: WrittenRange, now_ms: int,
) -> Iterator[str]:  # fmt: skip
    """Write the range from the pattern `day`, which starts at `day_ms`; yields each day's date.

    Raises CannotWrite, OSError and Spark's errors; `remove` deletes what was written until then.
    """
    if written_range.load(root, slug) is not None:
        raise CannotWrite("it has written history already: remove that first, with --remove")
    check_rows(_row_count(day))
    last_day_ms = bucket_start(planned.to_ms - 1, DAY_MS)
    is_recorded = bool(manifest.span_folders(root, slug, RAW))
    with opened(root, slug) as space:
        full_day = _rolled_up(spark, space, day, day_ms, (MINUTE, HOUR, DAY))
        last = cut_day(day, day_ms + planned.to_ms - last_day_ms)
        # The pipeline computes the day in which the recorded history begins, when it is over.
        is_whole = planned.to_ms == last_day_ms + DAY_MS
        last_levels = (MINUTE, HOUR, DAY) if is_whole else (MINUTE, HOUR)
        last_day = _rolled_up(spark, space, last, day_ms, last_levels)
    written_range.store(root, slug, planned)
    for at_ms in range(planned.from_ms, planned.to_ms, DAY_MS):
        levels = last_day if at_ms == last_day_ms else full_day
        for level, tables in levels.items():
            if level is DAY or (level is RAW and not is_recorded):
                # Days are written by year, below. Without recorded raw ticks the next flush would
                # go on from the written ones.
                continue
            if at_ms + DAY_MS > kept_from_ms(level, now_ms):
                _write_day(root, slug, level, tables, at_ms - day_ms)
        yield datetime.fromtimestamp(at_ms / 1000, UTC).date().isoformat()
    _write_days(root, slug, full_day, last_day, day_ms, planned, kept_from_ms(DAY, now_ms))


def _rolled_up(
    spark: SparkSession, space: Workspace, raw: RowsByTable, day_ms: int, levels: Sequence[Level]
) -> LevelTables:
    """The tables of these levels and the raw level of a day. Rows of a level are sorted by key."""
    from monitoring.spark.jobs.roll_up_and_merge import RollUp, roll_up
    from monitoring.spark.transforms.buckets import buckets_of

    # In one piece: a filter of thousands of pieces takes 20 times as long.
    found: LevelTables = {RAW: {name: rows.combine_chunks() for name, rows in raw.items()}}
    prefix = uuid.uuid4().hex
    locations = _spark_input(space, raw, prefix)
    for level in levels:
        source = SOURCE_OF[level]
        ticks = found[source][TICKS].sort_by("at_ms")
        found[level] = {TICKS: coarser_ticks(ticks, source, level.bucket_ms)}
        buckets = buckets_of(ticks, is_raw=source is RAW)
        outputs = {name: f"{prefix}-{level.name}-{name}" for name in locations}
        rows_max = max((len(found[source][name]) for name in locations), default=0)
        steps = [
            RollUp(
                table=name,
                is_raw=source is RAW,
                files=[_source_file(location, found[source][name])],
                buckets=buckets,
                bucket_ms=level.bucket_ms,
                keep_repeated_until_ms=day_ms + (HOUR_MS if level is HOUR else DAY_MS),
                output=space.output(outputs[name]),
                rows=rows_max,  # of all: they share the session's settings
            )
            for name, location in locations.items()
        ]
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            list(pool.map(partial(roll_up, spark), steps))
        locations = {}
        for name, output in outputs.items():
            schema = schema_of(name, is_raw=False)
            parts = [
                read_file(space.root, space.root.path(*each.path), schema)
                for each in space.spark_files(output, name, prefix)
            ]
            if parts:
                found[level][name] = append_ticks.joined(name, parts)
                locations[name] = space.output(output)
    return found


def _source_file(location: str, rows: pa.Table) -> SourceFile:
    from monitoring.spark.jobs.time_slices import SourceFile

    times = pc.min_max(rows["at_ms"]).as_py()
    return SourceFile(location, len(rows), times["min"], times["max"])


def _spark_input(space: Workspace, raw: RowsByTable, prefix: str) -> dict[str, str]:
    """The raw rows as files; table → location."""
    found = {}
    for name in raw.keys() & TABLES.keys():
        file = f"{prefix}-raw-{name}.parquet"
        space.root.write(memoryview(append_ticks.parquet(raw[name])), *space.folder, file)
        found[name] = space.output(file)
    return found


def _write_day(root: Root, slug: str, level: Level, tables: RowsByTable, shift_ms: int) -> None:
    """The rows of a day, `shift_ms` later than the pattern; raw ticks are in a folder by hour."""
    length_ms = HOUR_MS if level is RAW else DAY_MS
    first_ms = bucket_start(pc.min(tables[TICKS]["at_ms"]).as_py(), DAY_MS)
    for start_ms in range(first_ms, first_ms + DAY_MS, length_ms):
        inside = (pc.field("at_ms") >= start_ms) & (pc.field("at_ms") < start_ms + length_ms)
        parts = {name: shifted(rows.filter(inside), shift_ms) for name, rows in tables.items()}
        if len(parts[TICKS]):
            _append(root, SpanFolder(slug, level, level.span_of(start_ms + shift_ms)), parts)


def _write_days(
    root: Root,
    slug: str,
    full_day: LevelTables,
    last_day: LevelTables,
    day_ms: int,
    planned: WrittenRange,
    kept_ms: int,
) -> None:
    """The day level: a file for each year and table, sorted by key."""
    last_day_ms = bucket_start(planned.to_ms - 1, DAY_MS)
    by_year: dict[str, dict[str, list[pa.Table]]] = {}
    for at_ms in range(planned.from_ms, planned.to_ms, DAY_MS):
        levels = last_day if at_ms == last_day_ms else full_day
        if DAY not in levels or at_ms + DAY_MS <= kept_ms:
            continue
        for name, rows in levels[DAY].items():
            parts = by_year.setdefault(DAY.span_of(at_ms), {}).setdefault(name, [])
            parts.append(shifted(rows, at_ms - day_ms))
    for span, tables_of_year in by_year.items():
        tables = {name: append_ticks.joined(name, parts) for name, parts in tables_of_year.items()}
        _append(root, SpanFolder(slug, DAY, span), tables)


def _append(root: Root, span_folder: SpanFolder, tables: Mapping[str, pa.Table]) -> None:
    files = [
        append_ticks.write_file(root, span_folder, name, rows, "written-")
        for name, rows in tables.items()
        if len(rows)
    ]
    for attempt in range(_ATTEMPTS):
        before = manifest.load(root, span_folder)
        try:
            manifest.replace(root, span_folder, before, [*before.files, *files])
            return
        except FileExistsError:
            if attempt == _ATTEMPTS - 1:
                raise


def remove(root: Root, slug: str) -> WrittenRange:
    """Remove the written range from all levels. Raises CannotWrite if there is none."""
    written = written_range.load(root, slug)
    if written is None:
        raise CannotWrite("it has no written history")
    # A day that the pipeline computed from written and recorded hours is computed again.
    end_ms = {DAY: bucket_start(written.to_ms - 1, DAY_MS) + DAY_MS}
    with opened(root, slug) as space:
        for level in LEVELS:
            for span_folder in manifest.span_folders(root, slug, level):
                _remove(space, span_folder, written.from_ms, end_ms.get(level, written.to_ms))
    written_range.delete(root, slug)
    return written


def _remove(space: Workspace, span_folder: SpanFolder, from_ms: int, to_ms: int) -> None:
    if span_folder.end_ms <= from_ms or span_folder.start_ms >= to_ms:
        return
    before = manifest.load(space.root, span_folder)
    removed, rest = [], []
    for file in before.files:
        if file.max_at_ms < from_ms or file.min_at_ms >= to_ms:
            continue
        removed.append(file)
        if file.min_at_ms < from_ms or file.max_at_ms >= to_ms:
            kept = space.copy_without(span_folder, file, from_ms, to_ms)
            rest += [kept] if kept else []
    if len(removed) == len(before.files) and not rest:
        space.root.delete_folder(*span_folder.folder)
    else:
        space.publish(span_folder, before, removed, rest)
