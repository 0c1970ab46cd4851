"""The stored runs of a cluster's jobs: what became of each, and when a failed one is tried again.

A run that found no Spark, or whose result another worker published first, waits: that is no
attempt, and the next message tries it again.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from billiard.exceptions import SoftTimeLimitExceeded
from django.utils import timezone

from monitoring.background.queues import QUEUES
from monitoring.clusters.models import Cluster
from monitoring.error_reason import Reason, dumps
from monitoring.history import flush_state
from monitoring.pipeline.do_job import Written
from monitoring.pipeline.due_jobs import Job
from monitoring.pipeline.models import PipelineRun, RunState

RETRY = timedelta(minutes=5)  # after the first failure; doubled by each other one
RETRY_MAX = timedelta(hours=6)
LOST_MAX = 3  # attempts that ended with their worker or with Spark
RUNS_KEPT = timedelta(days=30)
_RESULT_FIELDS = ("state", "attempt", "seconds", "rows", "bytes", "error")
JobKey = tuple[str, int]
"""The kind and the start of a job; a cluster has one run of them."""


def key_of(job: Job | PipelineRun) -> JobKey:
    return job.kind, job.start_ms


def begin(cluster: Cluster, job: Job) -> PipelineRun:
    """Store that the job runs now."""
    run, _ = PipelineRun.objects.update_or_create(
        cluster=cluster,
        kind=job.kind,
        start_ms=job.start_ms,
        defaults={"state": RunState.RUNNING, "started_at": timezone.now(), "error": ""},
    )
    run.attempt += 1
    run.save(update_fields=["attempt"])
    return run


def end(run: PipelineRun, result: Written | Exception, seconds: float) -> None:
    """Store what became of it.

    A worker that lost the cluster's lock ends a run that another worker has begun again since. What
    it computed is published, so the job is done. Its failure is not stored: the other still runs.
    """
    run.seconds = seconds
    stored = PipelineRun.objects.filter(pk=run.pk)
    if isinstance(result, Written):
        run.state, run.rows, run.bytes, run.attempt = RunState.DONE, result.rows, result.bytes, 0
        run.error = ""
    else:
        _set_failure(run, result)
        stored = stored.filter(state=RunState.RUNNING, started_at=run.started_at)
    stored.update(**{name: getattr(run, name) for name in _RESULT_FIELDS})


def _set_failure(run: PipelineRun, error: Exception) -> None:
    """Set the state, the attempts, and the reason to store."""
    from monitoring.spark.session import SparkUnavailable, session_lost_error

    run.error = dumps(_reason_of(error))
    run.state = RunState.FAILED
    if isinstance(error, SparkUnavailable | FileExistsError):
        run.state, run.attempt = RunState.WAITING, run.attempt - 1
    elif session_lost_error(error) and run.attempt < LOST_MAX:
        run.state = RunState.WAITING


def _reason_of(error: Exception) -> Reason:
    from monitoring.spark.session import SparkUnavailable, session_lost_error

    why = (str(error).splitlines() or [type(error).__name__])[0][:300]
    if isinstance(error, FileExistsError):
        return Reason("other_worker")
    if isinstance(error, SparkUnavailable):
        return Reason("spark_not_available", why=why)
    if lost := session_lost_error(error):
        return Reason("spark_not_available", why=str(lost))
    if isinstance(error, SoftTimeLimitExceeded):
        return Reason("job_too_long", minutes=(QUEUES["spark"].soft_time_limit_s or 0) // 60)
    found = flush_state.reason_of(error)
    is_of_files = isinstance(error, OSError) or found.code == "disk_full"
    return found if is_of_files else Reason("job_failed", why=why)


def mark_lost(cluster: Cluster) -> bool:
    """Runs that are still running are those of a worker that ended: the caller has the lock.

    Returns whether there was one.
    """
    running = PipelineRun.objects.filter(cluster=cluster, state=RunState.RUNNING)
    lost = {"error": dumps(Reason("worker_lost"))}
    failed = running.filter(attempt__gte=LOST_MAX).update(state=RunState.FAILED, **lost)
    return bool(failed + running.update(state=RunState.WAITING, **lost))


def delete_settled(cluster: Cluster, due: set[JobKey]) -> None:
    """Delete what is neither done nor due: another way did it, or its input is expired."""
    for run in PipelineRun.objects.filter(cluster=cluster).exclude(state=RunState.DONE):
        if key_of(run) not in due:
            run.delete()


def failed(cluster: Cluster) -> dict[JobKey, PipelineRun]:
    runs = PipelineRun.objects.filter(cluster=cluster, state=RunState.FAILED)
    return {key_of(run): run for run in runs}


def retry_at(run: PipelineRun) -> datetime:
    """When a failed run is tried again."""
    doublings = min(max(run.attempt - 1, 0), 10)
    return run.started_at + min(RETRY * (1 << doublings), RETRY_MAX)


def delete_old() -> None:
    PipelineRun.objects.filter(started_at__lt=timezone.now() - RUNS_KEPT).delete()
