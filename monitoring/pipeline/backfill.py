"""The back-fill of a cluster: its hours with raw ticks are computed again, and the days after them.

The jobs are done in order, each when the one before it is done; `Backfill.next_ms` is the position
of the next one. A job that failed is tried again as any other (stored_runs.py). When it has failed
ATTEMPTS_MAX times, the back-fill waits for a user to resume or stop it. Failures from before its
start do not count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from monitoring.clusters.models import Cluster
from monitoring.history import manifest
from monitoring.history.levels import DAY, DAY_MS, HOUR, HOUR_MS, RAW, bucket_start
from monitoring.history.root_folder import current
from monitoring.pipeline import due_jobs
from monitoring.pipeline.due_jobs import Job, RollUpJob, TickCounts
from monitoring.pipeline.models import Backfill, LastBackfill, PipelineRun, RunState
from monitoring.pipeline.stored_runs import JobKey

ATTEMPTS_MAX = 3


@dataclass(frozen=True, slots=True)
class Remaining:
    """The jobs that are left of a back-fill, at least one; the first is at its position."""

    backfill: Backfill
    jobs: Sequence[RollUpJob]


def start(cluster: Cluster, from_ms: int, to_ms: int) -> None:
    """Compute `[from_ms, to_ms)` again. Raises ValueError with a code: `running` or `failed` if
    there is a back-fill, `no_ticks` if no raw ticks of the range are kept."""
    span_folders = manifest.span_folders(current(), cluster.slug, RAW)
    if not any(
        from_ms < span_folder.end_ms and span_folder.start_ms < to_ms
        for span_folder in span_folders
    ):
        raise ValueError("no_ticks")
    values = {"from_ms": from_ms, "to_ms": to_ms, "next_ms": from_ms}
    found, is_new = Backfill.objects.get_or_create(cluster=cluster, defaults=values)
    if not is_new:
        raise ValueError("failed" if has_failed(next_run(found)) else "running")
    runs = PipelineRun.objects.filter(cluster=cluster, kind__in=(HOUR.name, DAY.name))
    _try_again(runs.filter(start_ms__gte=bucket_start(from_ms, DAY_MS), start_ms__lt=to_ms))


def stop(cluster: Cluster) -> bool:
    """End it after the hour that is computed now; False if there is none.

    The day of that hour keeps its rows. If the hour failed after its minutes were published, it has
    new minutes and keeps the rows of the hour level.
    """
    deleted, _ = Backfill.objects.filter(cluster=cluster).delete()
    return bool(deleted)


def resume(cluster: Cluster) -> bool:
    """Try the failed job again; False if the back-fill does not wait for that."""
    found = Backfill.objects.filter(cluster=cluster).first()
    run = next_run(found) if found else None
    if run is None or not has_failed(run):
        return False
    return _try_again(PipelineRun.objects.filter(pk=run.pk))


def _try_again(runs: QuerySet[PipelineRun]) -> bool:
    """Let those that failed wait, as if they had no attempt; whether there are some."""
    failed = runs.filter(state=RunState.FAILED)
    return bool(failed.update(state=RunState.WAITING, attempt=0))


def next_run(found: Backfill) -> PipelineRun | None:
    """The run of the next job, if there was one."""
    kind, start_ms = _key_at(found.next_ms)
    return PipelineRun.objects.filter(cluster=found.cluster, kind=kind, start_ms=start_ms).first()


def has_failed(run: PipelineRun | None) -> bool:
    """Whether a back-fill that has this next run waits for a user."""
    return run is not None and run.state == RunState.FAILED and run.attempt >= ATTEMPTS_MAX


def remaining(cluster: Cluster, counts: TickCounts, at_ms: int) -> Remaining | None:
    """What is left of the back-fill; hours without raw ticks are passed. None = there is none."""
    found = Backfill.objects.filter(cluster=cluster).first()
    if found is None:
        return None
    jobs = [
        job
        for job in due_jobs.backfill(counts, found.from_ms, found.to_ms, at_ms)
        if _position_ms(job) >= found.next_ms
    ]
    _move(found, jobs)
    return Remaining(found, jobs) if jobs else None


def note_done(left: Remaining, job: Job) -> None:
    """A job was done. If it is the first of the back-fill, that goes on with the second."""
    if job == left.jobs[0]:
        if job.kind == DAY.name:
            left.backfill.days += 1
        else:
            left.backfill.hours += 1
        _move(left.backfill, left.jobs[1:])


def _position_ms(job: RollUpJob) -> int:
    """The time by which the jobs are ordered: a day comes after its last hour."""
    return job.end_ms - 1 if job.kind == DAY.name else job.start_ms


def _key_at(position_ms: int) -> JobKey:
    """The kind and the start of the job at a position."""
    if position_ms % HOUR_MS == 0:
        return HOUR.name, position_ms
    return DAY.name, bucket_start(position_ms, DAY_MS)


def _move(found: Backfill, jobs: Sequence[RollUpJob]) -> None:
    """Set the position to the first of `jobs`, and the counts; without jobs the back-fill is done.

    Nothing happens if it was stopped meanwhile, also if another one was started.
    """
    rows = Backfill.objects.filter(pk=found.pk, next_ms=found.next_ms)
    if not jobs:
        _end(found, rows)
        return
    found.next_ms = _position_ms(jobs[0])
    rows.update(next_ms=found.next_ms, hours=found.hours, days=found.days)


def _end(found: Backfill, rows: QuerySet[Backfill]) -> None:
    """Delete the row, and store what the back-fill did."""
    names = ("from_ms", "to_ms", "hours", "days")
    done = {name: getattr(found, name) for name in names} | {"ended_at": timezone.now()}
    with transaction.atomic():
        deleted, _ = rows.delete()
        if deleted:
            LastBackfill.objects.update_or_create(cluster=found.cluster, defaults=done)
