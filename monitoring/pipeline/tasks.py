"""The Celery tasks of the data pipeline.

`roll_up` does one job of one cluster and then sends the next message, so clusters take turns, and a
report waits for one job at most: it shares the queue, and a message that finds a report waiting
ends. Beat's next round (five minutes) goes on then. A key in Redis keeps one message for a cluster.

If a worker is killed, `end_lost_runs` goes on as soon as the cluster's lock is free.
"""

from __future__ import annotations

import logging

from celery import current_app, shared_task

from monitoring import redis_client
from monitoring.clusters.models import Cluster
from monitoring.pipeline.models import PipelineRun, RunState
from monitoring.reports.models import Report, State

log = logging.getLogger(__name__)
EXPIRES_S = 290  # beat sends every 300 s


@shared_task
def send_roll_ups() -> None:
    """Queue a roll-up of each cluster that has none waiting; `due_jobs` says what is due."""
    for slug in Cluster.objects.values_list("slug", flat=True):
        send(slug)


@shared_task
def roll_up(slug: str) -> None:
    """Do the next job of a cluster."""
    # Imported late, so that other processes do not load Spark.
    from monitoring.pipeline import run_next_job

    _forget_sent(slug)
    cluster = Cluster.objects.filter(slug=slug).first()
    if cluster is None or Report.objects.filter(state=State.QUEUED).exists():
        return
    if run_next_job.run_next(cluster):
        send(slug)


@shared_task
def end_lost_runs() -> None:
    """Store that the runs of killed workers have ended, and send the next message of the cluster.

    A worker that tries to begin while the lock is taken here gives up: so the message is sent
    whether or not a run was lost.
    """
    # Imported late, so that other processes do not load PyArrow.
    from monitoring.pipeline import cluster_lock, stored_runs

    running = PipelineRun.objects.filter(state=RunState.RUNNING)
    for cluster in Cluster.objects.filter(pk__in=running.values("cluster")):
        with cluster_lock.held(cluster.slug) as is_held:
            is_lost = is_held and stored_runs.mark_lost(cluster)
        if is_lost:  # a message that waits may be lost, too: the worker had fetched it
            _forget_sent(cluster.slug)
        if is_held:
            send(cluster.slug)


@shared_task
def refresh() -> None:
    """Delete expired history, and store the state of each cluster's levels."""
    from monitoring.pipeline import run_next_job, stored_runs

    for cluster in Cluster.objects.all():
        try:
            run_next_job.refresh(cluster)
        except Exception:  # the history of one cluster must not stop that of the others
            log.exception("the history of %s could not be refreshed", cluster.slug)
    stored_runs.delete_old()


def send(slug: str) -> None:
    """Send `roll_up` for a cluster, unless one waits already. Raises RedisDown."""
    with redis_client.guarded() as client:
        if not client.set(_key(slug), 1, nx=True, px=EXPIRES_S * 1000):
            return
    current_app.send_task("monitoring.pipeline.tasks.roll_up", (slug,), expires=EXPIRES_S)


def _forget_sent(slug: str) -> None:
    with redis_client.guarded() as client:
        client.delete(_key(slug))


def _key(slug: str) -> str:
    return f"aerie:pipeline:sent:{slug}"
