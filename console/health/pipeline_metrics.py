"""The metrics of the data pipeline: of each cluster, as its worker stored them last; and of the
disk of the history, as it is now."""

from __future__ import annotations

from collections import Counter

from django.db.models import Count

from console.health.prometheus_text import Sample, gauge
from monitoring.clock import now_ms
from monitoring.error_reason import Reason, loads
from monitoring.error_reason_texts import PIPELINE
from monitoring.history import flush_state, history_disk
from monitoring.history.levels import HOUR_MS
from monitoring.history.root_folder import current
from monitoring.models import Cluster, PipelineRun, PipelineState
from monitoring.pipeline import backfill
from monitoring.pipeline.models import Backfill, RunState
from monitoring.redis_client import RedisDown

_OTHER = "other"  # the reason of a run that an older version stored, or a newer one
_LEVEL_METRICS = {
    "aerie_pipeline_last_roll_up_duration_seconds": "seconds",
    "aerie_history_bytes": "bytes",
    "aerie_history_files": "files",
    "aerie_history_rows": "rows",
}


def pipeline_metrics() -> list[str]:
    """The jobs, the back-fills, the disk, and the levels of each cluster's history."""
    states = list(PipelineState.objects.select_related("cluster").order_by("cluster__slug"))
    slugs = [state.cluster.slug for state in states]
    seen = [({"cluster": state.cluster.slug}, _seen_s(state)) for state in states]
    waiting = [({"cluster": state.cluster.slug}, state.waiting_hours) for state in states]
    return [
        *gauge("aerie_pipeline_seen_timestamp_seconds", seen),
        *gauge("aerie_pipeline_waiting_hours", waiting),
        *_jobs(slugs),
        *_backfills(slugs),
        *_disk(),
        *_unwritten(),
        *_levels(states),
    ]


def _jobs(slugs: list[str]) -> list[str]:
    """The jobs that failed, and with their reasons those that failed or wait to be tried again."""
    failed: Counter[str] = Counter()
    not_done: Counter[tuple[str, str]] = Counter()
    runs = PipelineRun.objects.filter(state__in=[RunState.FAILED, RunState.WAITING])
    of_runs = runs.order_by().values_list("cluster__slug", "state", "error")
    for slug, state, error, count in of_runs.annotate(count=Count("pk")):
        not_done[slug, _reason_code(error)] += count
        if state == RunState.FAILED:
            failed[slug] += count
    by_reason: list[Sample] = [
        ({"cluster": slug, "reason": reason}, not_done[slug, reason])
        for slug in slugs
        for reason in (*PIPELINE, _OTHER)
    ]
    return [
        *gauge("aerie_pipeline_failed_jobs", [({"cluster": slug}, failed[slug]) for slug in slugs]),
        *gauge("aerie_pipeline_not_done_jobs", by_reason),
    ]


def _reason_code(error: str) -> str:
    """A code of PIPELINE, or _OTHER: so the label has few values, whatever is stored."""
    reason = loads(error)
    return reason.code if isinstance(reason, Reason) and reason.code in PIPELINE else _OTHER


def _seen_s(state: PipelineState) -> float | None:
    """When the figures were stored; None = not yet: an older version made the row when a back-fill
    was started."""
    return state.seen_ms / 1000 if state.seen_ms else None


def _backfills(slugs: list[str]) -> list[str]:
    """The back-fill of each cluster; the numbers of its hours only while there is one."""
    found = {each.cluster.slug: each for each in Backfill.objects.select_related("cluster")}
    running, failed, hours, done = [], [], [], []
    for slug in slugs:
        labels, each = {"cluster": slug}, found.get(slug)
        has_failed = each is not None and backfill.has_failed(backfill.next_run(each))
        running.append((labels, int(each is not None and not has_failed)))
        failed.append((labels, int(has_failed)))
        if each is not None:
            hours.append((labels, _hours(each.to_ms - each.from_ms)))
            # The position of a day's job is 1 ms before its end: its hours are done.
            done.append((labels, _hours(each.next_ms - each.from_ms)))
    return [
        *gauge("aerie_pipeline_backfill_running", running),
        *gauge("aerie_pipeline_backfill_failed", failed),
        *gauge("aerie_pipeline_backfill_hours", hours),
        *gauge("aerie_pipeline_backfill_done_hours", done),
    ]


def _hours(length_ms: int) -> int:
    """The number of hours, rounded up."""
    return -(-length_ms // HOUR_MS)


def _disk() -> list[str]:
    """The disk of the history; nothing if its space is not known."""
    space = history_disk.space(current())
    if space is None:
        return []
    return [
        *gauge("aerie_history_disk_size_bytes", [({}, space.total_bytes)]),
        *gauge("aerie_history_disk_free_bytes", [({}, space.free_bytes)]),
        *gauge("aerie_history_disk_full", [({}, int(history_disk.is_almost_full(space)))]),
    ]


def _unwritten() -> list[str]:
    """For how long new samples of each cluster are not written; nothing if Redis is down."""
    slugs, at_ms = list(Cluster.objects.order_by("slug").values_list("slug", flat=True)), now_ms()
    try:
        since_ms = {each.slug: each.since_ms for each in flush_state.late(slugs, at_ms)}
    except RedisDown:
        return []
    found = [({"cluster": slug}, (at_ms - since_ms.get(slug, at_ms)) / 1000) for slug in slugs]
    return gauge("aerie_history_unwritten_seconds", found)


def _levels(states: list[PipelineState]) -> list[str]:
    """The figures of each level. A state that an older version stored has no seconds."""
    levels = [
        ({"cluster": state.cluster.slug, "level": level}, figures)
        for state in states
        for level, figures in state.levels.items()
    ]
    ends = [
        (labels, None if figures["last_ms"] is None else figures["last_ms"] / 1000)
        for labels, figures in levels
    ]
    lines = gauge("aerie_history_last_timestamp_seconds", ends)
    for name, key in _LEVEL_METRICS.items():
        lines += gauge(name, [(labels, figures.get(key)) for labels, figures in levels])
    return lines
