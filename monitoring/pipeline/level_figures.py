"""The figures of each level of a cluster, stored for pages, metrics and health."""

from __future__ import annotations

from typing import Any

from monitoring.clusters.models import Cluster
from monitoring.history.levels import DAY, DAY_MS, HOUR, HOUR_MS, LEVELS, MINUTE, Level
from monitoring.history.manifest import Files, HistoryFile
from monitoring.history.table_specs import TICKS
from monitoring.history.written_range import WrittenRange
from monitoring.pipeline.due_jobs import RollUpJob
from monitoring.pipeline.models import PipelineRun, PipelineState, RunState

_RECENT_MS = 7 * DAY_MS  # from these days `bytes_a_day` is computed
# The kinds of the jobs that compute a level. A job of the kind `hour` computes the minutes and the
# hour.
_KINDS = {MINUTE: ("hour", "minute"), HOUR: ("hour", "only_hour"), DAY: ("day",)}


def store(
    cluster: Cluster,
    listed: Files,
    waiting: list[RollUpJob],
    written: WrittenRange | None,
    now_ms: int,
) -> PipelineState:
    """Store what the levels have; returns the stored row. `listed`: the files in the manifests."""
    hours = sorted({job.start_ms for job in waiting if job.kind != "day"})
    values = {
        "seen_ms": now_ms,
        "levels": {
            level.name: {
                **level_figures(listed, level),
                "seconds": seconds_of_last_run(cluster, level),
            }
            for level in LEVELS
        },
        "waiting_hours": len(hours),
        "oldest_waiting_ms": hours[0] if hours else None,
        "written_from_ms": written.from_ms if written else None,
        "written_to_ms": written.to_ms if written else None,
    }
    state, _ = PipelineState.objects.update_or_create(cluster=cluster, defaults=values)
    return state


def level_figures(listed: Files, level: Level) -> dict[str, Any]:
    """The figures of a level; null where nothing is known. `last_ms`: the end of its newest
    bucket."""
    files = [
        file
        for span_folder, of_span in listed.items()
        if span_folder.level is level
        for file in of_span
    ]
    newest_ms = max((file.max_at_ms for file in files if file.table == TICKS), default=None)
    return {
        "last_ms": None if newest_ms is None else newest_ms + level.bucket_ms,
        "rows": sum(file.rows for file in files),
        "files": len(files),
        "bytes": sum(file.bytes for file in files),
        "bytes_a_day": _bytes_a_day(files, level),
    }


def seconds_of_last_run(cluster: Cluster, level: Level) -> float | None:
    """How long the last job took that computed the level; None if none is known."""
    runs = PipelineRun.objects.filter(
        cluster=cluster, kind__in=_KINDS.get(level, ()), state=RunState.DONE
    )
    return runs.order_by("-started_at").values_list("seconds", flat=True).first()


def _bytes_a_day(files: list[HistoryFile], level: Level) -> int | None:
    newest_ms = max((file.max_at_ms for file in files), default=0)
    recent = [file for file in files if file.max_at_ms > newest_ms - _RECENT_MS]
    if not recent:
        return None
    oldest_ms = min(file.min_at_ms for file in recent)
    length_ms = newest_ms + level.bucket_ms - oldest_ms
    if length_ms < HOUR_MS:
        return None
    return sum(file.bytes for file in recent) * DAY_MS // length_ms
