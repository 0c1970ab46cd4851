"""Does the next job of a cluster's pipeline; cluster_lock.py admits one worker for each cluster."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils import timezone

from monitoring.clock import now_ms
from monitoring.clusters.models import Cluster
from monitoring.history import manifest, written_range
from monitoring.history.levels import LEVELS
from monitoring.history.manifest import Files
from monitoring.history.root_folder import Root, current
from monitoring.history.written_range import WrittenRange
from monitoring.pipeline import (
    backfill,
    cluster_lock,
    delete_expired_history,
    do_job,
    due_jobs,
    level_figures,
    stored_runs,
    workspace,
)
from monitoring.pipeline.backfill import Remaining
from monitoring.pipeline.delete_expired_history import kept_from_ms
from monitoring.pipeline.due_jobs import Job, RollUpJob, TickCounts
from monitoring.pipeline.models import RunState
from monitoring.pipeline.tick_counts import read_tick_counts

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Levels:
    """What the levels of a cluster have at a time, and the roll-ups that wait then."""

    at_ms: int
    files: Files
    counts: TickCounts
    waiting: list[RollUpJob]
    written: WrittenRange | None


@dataclass(frozen=True, slots=True)
class _Due:
    """The jobs that may start now, the next one first, and what is left of a back-fill."""

    jobs: Sequence[Job]
    backfill: Remaining | None


def run_next(cluster: Cluster) -> bool:
    """Do the next job of a cluster, if one is due; returns whether another one is due then.

    A job that fails is stored as a failed run and tried again later; the others go on. False if
    another process has the lock, or Spark is not there. Raises RedisDown.
    """
    with cluster_lock.held(cluster.slug) as is_held:
        if not is_held:
            return False
        root = current()
        stored_runs.mark_lost(cluster)
        levels = _read_levels(root, cluster)
        due = _due(cluster, levels)
        may_go_on = False
        if due.jobs:
            may_go_on = _run_first(root, cluster, due)
            levels = _read_levels(root, cluster)
        _store_state(cluster, levels)
        # The due jobs are computed again: a roll-up can make merges due.
        return may_go_on and bool(_due(cluster, levels).jobs)


def refresh(cluster: Cluster) -> None:
    """Delete what is expired, and store the state of the levels for pages.

    Raises RedisDown. Expired spans stay while a job runs, which may read them.
    """
    root = current()
    levels = _read_levels(root, cluster)
    rolled_up = due_jobs.rolled_up_hours(levels.counts)
    found = delete_expired_history.expired(list(levels.files), rolled_up, levels.at_ms)
    if found:  # a roll-up that finds the lock taken waits for the next beat
        with cluster_lock.held(cluster.slug) as is_held:
            if is_held:
                delete_expired_history.delete(root, found)
        levels = _read_levels(root, cluster)
    delete_expired_history.delete_dead_jobs(root, cluster.slug, levels.at_ms)
    _store_state(cluster, levels)


def store_state(cluster: Cluster) -> None:
    """Store the state of the levels for pages."""
    _store_state(cluster, _read_levels(current(), cluster))


def _read_levels(root: Root, cluster: Cluster) -> _Levels:
    """It reads all manifests of the cluster: on S3 hundreds of requests."""
    at_ms = now_ms()
    files = manifest.files_of_cluster(root, cluster.slug)
    counts = read_tick_counts(root, files)
    written = written_range.known(root, cluster.slug)
    return _Levels(at_ms, files, counts, _roll_ups(counts, at_ms), written)


def _store_state(cluster: Cluster, levels: _Levels) -> None:
    if not Cluster.objects.filter(pk=cluster.pk).exists():
        return  # it was deleted while the job ran
    level_figures.store(cluster, levels.files, levels.waiting, levels.written, levels.at_ms)


def _roll_ups(counts: TickCounts, at_ms: int) -> list[RollUpJob]:
    kept = {level: kept_from_ms(level, at_ms) for level in LEVELS}
    return due_jobs.roll_ups(counts, kept, at_ms)


def _due(cluster: Cluster, levels: _Levels) -> _Due:
    """What waits, then a back-fill, then merges; without failed jobs that are tried again later."""
    waiting = levels.waiting
    left = backfill.remaining(cluster, levels.counts, levels.at_ms)
    again: Sequence[RollUpJob] = left.jobs if left else []
    merges = due_jobs.merges(levels.files, waiting, levels.at_ms)
    every: list[Job] = [*waiting, *again, *merges]
    stored_runs.delete_settled(cluster, {stored_runs.key_of(job) for job in every})
    failed, now = stored_runs.failed(cluster), timezone.now()
    later = {key for key, run in failed.items() if now < stored_runs.retry_at(run)}
    if again:  # in order: all of them wait for the first
        key = stored_runs.key_of(again[0])
        if key in later or backfill.has_failed(failed.get(key)):
            again = []
    found: list[Job] = [*waiting, *again, *merges]
    once = dict.fromkeys(job for job in found if stored_runs.key_of(job) not in later)
    return _Due([*once], left)


def _run_first(root: Root, cluster: Cluster, due: _Due) -> bool:
    """Do the first job and store its run; returns whether the next one may follow.

    It may not if the first one could not begin, or the worker lost Spark.
    """
    job = due.jobs[0]
    run = stored_runs.begin(cluster, job)
    started_s = time.monotonic()
    result: do_job.Written | Exception
    try:
        result = _with_spark(root, cluster.slug, job)
    except Exception as error:
        log.warning("pipeline of %s, %s at %d: %s", cluster.slug, job.kind, job.start_ms, error)
        result = error
    stored_runs.end(run, result, time.monotonic() - started_s)
    if run.state == RunState.DONE and due.backfill:
        backfill.note_done(due.backfill, job)
    return run.state != RunState.WAITING


def _with_spark(root: Root, slug: str, job: Job) -> do_job.Written:
    from monitoring.spark.server_config import from_settings
    from monitoring.spark.session import open_session

    with open_session(from_settings()) as spark, workspace.opened(root, slug) as space:
        return do_job.run(spark, space, job)
