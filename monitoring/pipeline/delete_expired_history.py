"""Deletes the spans of a level that are older than its retention, and folders of dead jobs.

A span is deleted as a whole, when all of it is older. The raw level keeps its newest span, from
which the flush goes on. Raw hours that are not rolled up yet are kept UNFINISHED_FACTOR times as
long, so that an outage of Spark loses nothing. The retention of each level is a setting
(`AERIE_HISTORY_…` in console/settings.py).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import pyarrow.fs as pafs
from django.conf import settings

from monitoring.history.levels import LEVELS, RAW, Level
from monitoring.history.root_folder import Root, SpanFolder, cluster_folder
from monitoring.pipeline import workspace

UNFINISHED_FACTOR = 3
_JOB_MS = 60 * 60_000  # longer than a job may take


def kept_from_ms(level: Level, now_ms: int) -> int:
    """The start of what the level keeps; 0 = it keeps everything."""
    retention_ms = getattr(settings, level.retention_setting) * level.retention_unit_ms
    return now_ms - retention_ms if retention_ms else 0


def expired(
    span_folders: Collection[SpanFolder], rolled_up: Collection[int], now_ms: int
) -> list[SpanFolder]:
    """The spans that are older than the retention.

    `rolled_up`: the raw hours that coarser levels have.
    """
    kept_ms = {level: kept_from_ms(level, now_ms) for level in LEVELS}
    unfinished_ms = now_ms - UNFINISHED_FACTOR * (now_ms - kept_ms[RAW])
    newest_raw_ms = max(
        (span_folder.start_ms for span_folder in span_folders if span_folder.level is RAW),
        default=-1,
    )
    found = []
    for span_folder in span_folders:
        limit_ms = kept_ms[span_folder.level]
        if span_folder.level is RAW and span_folder.start_ms not in rolled_up:
            limit_ms = unfinished_ms
        is_newest_raw = span_folder.level is RAW and span_folder.start_ms == newest_raw_ms
        if span_folder.end_ms <= limit_ms and not is_newest_raw:
            found.append(span_folder)
    return found


def delete(root: Root, span_folders: Iterable[SpanFolder]) -> None:
    """Delete these spans. The caller holds the cluster's lock: no job may read them."""
    for span_folder in span_folders:
        root.delete_folder(*span_folder.folder)


def delete_dead_jobs(root: Root, slug: str, now_ms: int) -> None:
    """Delete the folders of jobs whose worker was killed."""
    folder = cluster_folder(slug), workspace.JOBS
    for entry in root.entries(*folder):
        selector = pafs.FileSelector(entry.path, recursive=True, allow_not_found=True)
        inside = root.filesystem.get_file_info(selector)
        times = [info.mtime.timestamp() * 1000 for info in (entry, *inside) if info.mtime]
        if times and max(times) < now_ms - _JOB_MS:
            workspace.delete(root, slug, entry.base_name)
