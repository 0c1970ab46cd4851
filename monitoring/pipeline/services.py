"""Does the next job of a cluster's pipeline; a Redis lock admits one worker for each cluster.

The lock is renewed while a job runs. If it is lost nevertheless, the manifest refuses the second
worker (workspace.py).
"""

from __future__ import annotations

import errno
import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from billiard.exceptions import SoftTimeLimitExceeded
from django.utils import timezone

from monitoring import redis_client
from monitoring.background.queues import QUEUES
from monitoring.clock import now_ms
from monitoring.clusters.models import Cluster
from monitoring.history import manifest
from monitoring.history.levels import LEVELS
from monitoring.history.root_folder import Root, current
from monitoring.pipeline import backfill, delete_expired, due_jobs, jobs, level_figures, workspace
from monitoring.pipeline.due_jobs import Job, MergeJob, RollUpJob, TickCounts
from monitoring.pipeline.models import PipelineRun, RunState
from monitoring.pipeline.retention import kept_from_ms
from monitoring.pipeline.tick_counts import read_tick_counts
from monitoring.reasons import Reason, dumps
from monitoring.redis_lock import renew, try_lock

_LOCK_MS, _RENEW_S = 120_000, 20.0
RETRY = timedelta(minutes=5)  # after the first failure; doubled by each other one
RETRY_MAX = timedelta(hours=6)
_LOST_MAX = 3  # attempts of workers that ended
RUNS_KEPT = timedelta(days=30)
log = logging.getLogger(__name__)


def run_next(cluster: Cluster) -> bool:
    """Do the next job of a cluster, if one is due; returns whether more wait.

    Raises RedisDown.

    A job that fails is stored as a failed run and tried again later; the others go on.
    """
    key, holder = f"aerie:pipeline:{cluster.slug}", uuid.uuid4().hex
    with try_lock(key, holder, _LOCK_MS) as other:
        if other is not None:
            return False
        with _renewed(key, holder):
            root = current()
            _mark_lost_runs(cluster)
            due = _due_jobs(root, cluster)
            is_answered = _run(root, cluster, due[0]) if due else True
            _store_state(root, cluster)
            return is_answered and len(due) > 1


def refresh(cluster: Cluster) -> None:
    """Delete what is expired, and store the state of the levels for pages."""
    root, at_ms = current(), now_ms()
    listed = manifest.files_of_cluster(root, cluster.slug)
    found = read_tick_counts(root, listed)
    delete_expired.delete_expired(root, listed, due_jobs.rolled_up_hours(found), at_ms)
    delete_expired.delete_dead_jobs(root, cluster.slug, at_ms)
    _store_state(root, cluster)


def drop_old_runs() -> None:
    PipelineRun.objects.filter(started_at__lt=timezone.now() - RUNS_KEPT).delete()


def _store_state(root: Root, cluster: Cluster) -> None:
    listed = manifest.files_of_cluster(root, cluster.slug)
    waiting = _roll_ups(read_tick_counts(root, listed), now_ms())
    level_figures.store(root, cluster, listed, waiting, now_ms())


def _roll_ups(counts: TickCounts, at_ms: int) -> list[RollUpJob]:
    kept = {level: kept_from_ms(level, at_ms) for level in LEVELS}
    return due_jobs.roll_ups(counts, kept, at_ms)


def _mark_lost_runs(cluster: Cluster) -> None:
    """Runs that are still running are those of a worker that ended: this one has the lock."""
    running = PipelineRun.objects.filter(cluster=cluster, state=RunState.RUNNING)
    lost = {"error": dumps(Reason("worker_lost"))}
    running.filter(attempt__gte=_LOST_MAX).update(state=RunState.FAILED, **lost)
    running.update(state=RunState.WAITING, **lost)


def _due_jobs(root: Root, cluster: Cluster) -> list[Job]:
    """The jobs that may start now: what waits, then a back-fill, then merges."""
    at_ms = now_ms()
    listed = manifest.files_of_cluster(root, cluster.slug)
    counts = read_tick_counts(root, listed)
    waiting = _roll_ups(counts, at_ms)
    backfill_jobs = backfill.due(cluster, counts, at_ms)
    found: list[Job] = [*waiting, *backfill_jobs, *due_jobs.merges(listed, waiting, at_ms)]
    due = {(job.kind, job.start_ms) for job in found}
    for row in PipelineRun.objects.filter(cluster=cluster).exclude(state=RunState.DONE):
        if (row.kind, row.start_ms) not in due:
            row.delete()  # it was done, or its input is expired
    later = _retried_later(cluster, timezone.now())
    return [job for job in found if (job.kind, job.start_ms) not in later]


def _retried_later(cluster: Cluster, now: datetime) -> set[tuple[str, int]]:
    """The failed jobs whose next attempt is not due yet."""
    failed = PipelineRun.objects.filter(cluster=cluster, state=RunState.FAILED)
    return {
        (run.kind, run.start_ms)
        for run in failed
        if now < run.started_at + min(RETRY * 2 ** min(run.attempt - 1, 10), RETRY_MAX)
    }


def _run(root: Root, cluster: Cluster, job: Job) -> bool:
    """Do a job and store the run; False if Spark was not there to do it."""
    row, _ = PipelineRun.objects.update_or_create(
        cluster=cluster,
        kind=job.kind,
        start_ms=job.start_ms,
        defaults={"state": RunState.RUNNING, "started_at": timezone.now(), "error": ""},
    )
    row.attempt += 1
    row.save(update_fields=["attempt"])
    started_s = time.monotonic()
    try:
        written = _with_spark(root, cluster.slug, job)
    except Exception as error:
        row.state, row.error = _failure(error)
        log.warning("pipeline of %s, %s at %d: %s", cluster.slug, job.kind, job.start_ms, error)
    else:
        row.state, row.rows, row.bytes, row.attempt = RunState.DONE, written.rows, written.bytes, 0
    row.seconds = time.monotonic() - started_s
    row.save()
    if row.state == RunState.WAITING:
        return False
    if not isinstance(job, MergeJob):
        backfill.note_done(cluster, job)
    return True


def _with_spark(root: Root, slug: str, job: Job) -> jobs.Written:
    from monitoring.spark.config import from_settings
    from monitoring.spark.session import open_session

    with open_session(from_settings()) as spark, workspace.opened(root, slug) as space:
        return jobs.run(spark, space, job)


def _failure(error: Exception) -> tuple[RunState, str]:
    """The state of a run that raised `error`, and the stored reason."""
    from monitoring.spark.session import SparkUnavailable, session_lost_error

    why = (str(error).splitlines() or [type(error).__name__])[0][:300]
    if isinstance(error, SparkUnavailable) or session_lost_error(error):
        return RunState.WAITING, dumps(Reason("spark_not_available", why=why))
    if isinstance(error, FileExistsError):
        return RunState.WAITING, dumps(Reason("other_worker"))
    if isinstance(error, SoftTimeLimitExceeded):
        minutes = (QUEUES["spark"].soft_time_limit_s or 0) // 60
        return RunState.FAILED, dumps(Reason("job_too_long", minutes=minutes))
    if "No space left" in str(error) or getattr(error, "errno", None) == errno.ENOSPC:
        return RunState.FAILED, dumps(Reason("disk_full", why=why))
    code = "history_unreadable" if isinstance(error, OSError) else "job_failed"
    return RunState.FAILED, dumps(Reason(code, why=why))


@contextmanager
def _renewed(key: str, holder: str) -> Iterator[None]:
    """Renew the lock inside."""
    ended = threading.Event()
    thread = threading.Thread(target=_renew, args=(key, holder, ended.wait), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _renew(key: str, holder: str, wait: Callable[[float], bool]) -> None:
    while not wait(_RENEW_S):
        try:
            renew(key, holder, _LOCK_MS)
        except redis_client.RedisDown as error:
            log.warning("the lock %s was not renewed: %s", key, error)
