"""Does one job (due_jobs.py) with Spark: rolls an hour or a day up, or merges files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from monitoring.history import manifest, read_levels
from monitoring.history.levels import (
    DAY,
    DAY_MS,
    HOUR,
    HOUR_MS,
    MINUTE,
    RAW,
    SOURCE_OF,
    Level,
    bucket_start,
)
from monitoring.history.manifest import HistoryFile
from monitoring.history.root_folder import Root, SpanFolder
from monitoring.history.table_specs import LEVEL_TICKS, TABLES, TICKS
from monitoring.pipeline.due_jobs import Job, MergeJob, RollUpJob
from monitoring.pipeline.workspace import FinishedFile, Workspace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from monitoring.spark.jobs.time_slices import SourceFile


@dataclass
class Written:
    """The number of rows and bytes that a job wrote."""

    rows: int = 0
    bytes: int = 0

    def add(self, files: Iterable[FinishedFile]) -> None:
        for finished in files:
            self.rows += finished.file.rows
            self.bytes += finished.file.bytes


class WrongRows(Exception):
    """Spark wrote another number of rows than it was given to merge."""


def run(spark: SparkSession, space: Workspace, job: Job) -> Written:
    """Do a job.

    Raises Spark's errors, OSError, WrongRows, and FileExistsError if another worker did the same.
    """
    written = Written()
    if isinstance(job, MergeJob):
        written.add(_merge(spark, space, job))
        return written
    for level in job.levels:
        written.add(_roll_up(spark, space, job, level))
    return written


def _roll_up(
    spark: SparkSession, space: Workspace, job: RollUpJob, level: Level
) -> list[FinishedFile]:
    from monitoring.spark.jobs.roll_up_and_merge import RollUp, roll_up
    from monitoring.spark.transforms.buckets import buckets_of

    root, slug, source = space.root, space.slug, SOURCE_OF[level]
    span_folder = SpanFolder(slug, level, level.span_of(job.start_ms))
    before = manifest.load(root, span_folder)
    # Before the files: rows of ticks that come now are left out, and the hour is computed again.
    ticks = read_levels.ticks(root, slug, source, job.start_ms, job.end_ms)
    # All files before Spark begins: if one of them is deleted meanwhile, the job fails.
    files_of = {
        table: read_levels.files(root, slug, source, table, job.start_ms, job.end_ms)
        for table in (*TABLES, TICKS)
    }
    buckets = buckets_of(ticks, is_raw=source is RAW)
    keep_repeated_until_ms = _keep_repeated_until_ms(space, job, level)
    time_name = (MINUTE if level is DAY else RAW).span_of(job.start_ms)
    own_ticks = space.ticks_file(coarser_ticks(ticks, source, level.bucket_ms), TICKS, time_name)
    if own_ticks is None or not files_of[TICKS]:
        raise FileNotFoundError(f"the level {source.name} has no ticks of {time_name} any more")
    added = [own_ticks]
    for table in TABLES:
        files = files_of[table]
        if not files:
            continue
        step = RollUp(
            table=table,
            is_raw=source is RAW,
            files=[_source_file(root, *each) for each in files],
            buckets=buckets,
            bucket_ms=level.bucket_ms,
            keep_repeated_until_ms=keep_repeated_until_ms,
            output=space.output(f"{level.name}-{table}"),
            rows=sum(file.rows for _, file in files),
        )
        roll_up(spark, step)
        added += space.spark_files(f"{level.name}-{table}", table, time_name)
    _replace(space, span_folder, before, job, added)
    return added


def _source_file(root: Root, span_folder: SpanFolder, file: HistoryFile) -> SourceFile:
    from monitoring.spark.jobs.time_slices import SourceFile

    location = root.location(*span_folder.folder, file.name)
    return SourceFile(location, file.rows, file.min_at_ms, file.max_at_ms)


def _replace(
    space: Workspace,
    span_folder: SpanFolder,
    before: manifest.Manifest,
    job: RollUpJob,
    added: list[FinishedFile],
) -> None:
    """Publish the files in place of what the span has of the job's time, also in merged files."""
    replaced, rest = [], []
    for file in before.files:
        if file.max_at_ms >= job.start_ms and file.min_at_ms < job.end_ms:
            replaced.append(file)
            if file.min_at_ms < job.start_ms or file.max_at_ms >= job.end_ms:
                kept = space.copy_without(span_folder, file, job.start_ms, job.end_ms)
                rest += [kept] if kept else []
    space.publish(span_folder, before, replaced, [*added, *rest])


def _keep_repeated_until_ms(space: Workspace, job: RollUpJob, level: Level) -> int:
    """The hour level needs rows that only repeat in the first hour of a day, or behind a hole."""
    if level is not HOUR or job.start_ms % DAY_MS == 0:
        return job.end_ms
    hour_before = job.start_ms - HOUR_MS
    has_before = len(read_levels.ticks(space.root, space.slug, HOUR, hour_before, job.start_ms))
    return job.start_ms if has_before else job.end_ms


def coarser_ticks(ticks: pa.Table, source: Level, bucket_ms: int) -> pa.Table:
    """The ticks table of the next level."""
    found: dict[int, dict[str, int | str]] = {}
    for row in ticks.sort_by("at_ms").to_pylist():
        if source is RAW:
            is_ok = row["status"] == "ok"
            row |= {"samples": int(is_ok), "gaps": int(not is_ok), "rated_ms": row["step_ms"] or 0}
            row["reason"] = "" if is_ok else row["reason"]
        at_ms = bucket_start(row["at_ms"], bucket_ms)
        bucket = found.setdefault(
            at_ms, {"at_ms": at_ms, "samples": 0, "gaps": 0, "rated_ms": 0, "reason": ""}
        )
        for name in ("samples", "gaps", "rated_ms"):
            bucket[name] += row[name]
        bucket["reason"] = bucket["reason"] or row["reason"] or ""
    return pa.Table.from_pylist(list(found.values()), schema=LEVEL_TICKS)


def _merge(spark: SparkSession, space: Workspace, job: MergeJob) -> list[FinishedFile]:
    from monitoring.spark.jobs.roll_up_and_merge import merge

    root, span_folder = space.root, job.span_folder
    before = manifest.load(root, span_folder)
    removed: list[HistoryFile] = []
    added: list[FinishedFile] = []
    for table in (TICKS, *TABLES):
        files = [
            file
            for file in before.of(table)
            if job.start_ms <= file.min_at_ms and file.max_at_ms < job.end_ms
        ]
        if len(files) < 2:
            continue
        name = f"merge-{table}"
        locations = [root.location(*span_folder.folder, file.name) for file in files]
        rows = sum(file.rows for file in files)
        merge(spark, table, span_folder.level is RAW, locations, rows, space.output(name))
        time_name = RAW.span_of(job.start_ms) if span_folder.level is not DAY else span_folder.span
        finished = space.spark_files(name, table, time_name)
        if sum(each.file.rows for each in finished) != rows:
            raise WrongRows(f"{table} of {span_folder.folder}")
        removed += files
        added += finished
    space.publish(span_folder, before, removed, added)
    return added
