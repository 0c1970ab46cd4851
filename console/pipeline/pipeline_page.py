"""The live part of the page of the data pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from console.accounts.rights import Rights
from console.ui import readiness_texts, times
from console.ui.texts import sentence
from monitoring.clock import now_ms
from monitoring.error_reason import loads
from monitoring.history import flush_state, history_disk
from monitoring.history.levels import DAY_MS, LEVELS, Level
from monitoring.history.root_folder import current
from monitoring.models import Backfill, Cluster, LastBackfill, PipelineRun, PipelineState
from monitoring.pipeline import backfill, cluster_lock
from monitoring.pipeline.models import RunState
from monitoring.redis_client import RedisDown

_RUNS_SHOWN = 20


def context(
    cluster: Cluster, rights: Rights, _name: str, query: Mapping[str, str]
) -> dict[str, Any]:
    """The levels, the newest runs and those that failed."""
    state = PipelineState.objects.filter(cluster=cluster).first()
    runs = PipelineRun.objects.filter(cluster=cluster)
    failed = runs.filter(state__in=[RunState.FAILED, RunState.WAITING])[:_RUNS_SHOWN]
    newest = [_run(run) for run in runs[:_RUNS_SHOWN]]
    for row in newest:
        if row["state"] == RunState.RUNNING:
            row["error"] = _silence(cluster)
    return {
        "state": state,
        "disk": history_disk.space(current()),
        "unwritten": _unwritten(cluster),
        "levels": [_level(level, state) for level in LEVELS],
        "runs": newest,
        "failed": [_run(run) for run in failed],
        "backfill": _backfill(cluster),
        "last_backfill": _last_backfill(cluster),
        "written": _written(state),
        "may_backfill": rights.may("pipeline.backfill"),
    }


def _unwritten(cluster: Cluster) -> dict[str, str] | None:
    """Since when new samples are not written to the history; None = they are, or Redis is down."""
    try:
        found = flush_state.late([cluster.slug], now_ms())
    except RedisDown:
        return None
    if not found:
        return None
    parts = [sentence(found[0].why) if found[0].why else "", readiness_texts.lost_samples()]
    return {"since": times.moment(found[0].since_ms), "text": " ".join(filter(None, parts))}


def _level(level: Level, state: PipelineState | None) -> dict[str, Any]:
    figures: dict[str, Any] = (state.levels if state else {}).get(level.name, {})
    retention = getattr(settings, level.retention_setting)
    a_day = figures.get("bytes_a_day")
    bytes_when_full = None
    if retention and a_day is not None:
        bytes_when_full = a_day * retention * level.retention_unit_ms // DAY_MS
    return (
        dict.fromkeys(("rows", "files", "bytes", "bytes_a_day", "seconds"))
        | figures
        | {
            "title": _titles()[level.name],
            "last": times.moment(figures.get("last_ms")),
            "kept": _retention_text(retention, level),
            "bytes_when_full": bytes_when_full,
        }
    )


def _titles() -> dict[str, str]:
    return {
        "raw": _("Raw ticks"),
        "minute": _("Minutes"),
        "hour": _("Hours"),
        "day": _("Days"),
    }


def _retention_text(retention: int, level: Level) -> str:
    if not retention:
        return _("for good")
    if level.retention_unit_ms == DAY_MS:
        return ngettext("%(n)d day", "%(n)d days", retention) % {"n": retention}
    return ngettext("%(n)d hour", "%(n)d hours", retention) % {"n": retention}


def _run(run: PipelineRun) -> dict[str, Any]:
    kinds = {
        "minute": _("Minutes of an hour"),
        "hour": _("Minutes and hour"),
        "only_hour": _("Hour"),
        "day": _("Day"),
        "merge_raw": _("Merge files of raw ticks"),
        "merge_minute": _("Merge files of minutes"),
        "merge_hour": _("Merge files of hours"),
        "merge_day": _("Merge files of days"),
    }
    states = {
        RunState.WAITING: _("waiting"),
        RunState.RUNNING: _("running"),
        RunState.DONE: _("done"),
        RunState.FAILED: _("failed"),
    }
    return {
        "kind": kinds.get(run.kind, run.kind),
        "start": times.moment(run.start_ms),
        "state": run.state,
        "state_title": states[RunState(run.state)],
        "attempt": run.attempt,
        "started_ms": int(run.started_at.timestamp() * 1000),
        "seconds": run.seconds,
        "rows": run.rows,
        "bytes": run.bytes,
        "error": sentence(loads(run.error)) if run.error else "",
    }


def _silence(cluster: Cluster) -> str:
    """The text at a running job whose worker shows no sign of life; "" if it shows one, or if Redis
    does not answer."""
    try:
        silent_ms = cluster_lock.silent_ms(cluster.slug)
    except RedisDown:
        return ""
    if silent_ms is None:
        return _("Its worker has ended. The job is tried again in some seconds.")
    if silent_ms < cluster_lock.SILENT_MS:
        return ""
    text = _("No sign of life of its worker for %(time)s: it may have ended.")
    return text % {"time": times.duration(silent_ms / 1000)}


def _written(state: PipelineState | None) -> dict[str, str] | None:
    """The range of the history that was written, not recorded."""
    if state is None or state.written_from_ms is None:
        return None
    first, end = times.moment(state.written_from_ms), times.moment(state.written_to_ms)
    return {"first": first, "end": end}


def _backfill(cluster: Cluster) -> dict[str, Any] | None:
    """The back-fill; `failed`: the run of its next job, if that failed. `waits`: for a user."""
    found = Backfill.objects.filter(cluster=cluster).first()
    if found is None:
        return None
    run = backfill.next_run(found)
    done = (found.next_ms - found.from_ms) / max(found.to_ms - found.from_ms, 1)
    return {
        "percent": int(100 * done),
        "first": times.moment(found.from_ms),
        "end": times.moment(found.to_ms),
        "failed": _run(run) if run and run.state == RunState.FAILED else None,
        "waits": backfill.has_failed(run),
    }


def _last_backfill(cluster: Cluster) -> dict[str, Any] | None:
    """What the back-fill that was done last did, and when it ended."""
    found = LastBackfill.objects.filter(cluster=cluster).first()
    if found is None:
        return None
    hours = ngettext("%(n)d hour", "%(n)d hours", found.hours) % {"n": found.hours}
    days = ngettext("%(n)d day", "%(n)d days", found.days) % {"n": found.days}
    return {
        "first": times.moment(found.from_ms),
        "end": times.moment(found.to_ms),
        "did": _("It computed %(hours)s and %(days)s again.") % {"hours": hours, "days": days},
        "ended_ms": int(found.ended_at.timestamp() * 1000),
    }
