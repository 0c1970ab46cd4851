"""The data pipeline through a real Celery worker."""

import time

import pytest
from django.utils import timezone

from monitoring.clock import now_ms
from monitoring.clusters.models import Cluster
from monitoring.error_reason import loads
from monitoring.history.levels import HOUR_MS
from monitoring.pipeline import cluster_lock, tasks
from monitoring.pipeline.models import PipelineRun, RunState
from tests.monitoring.pipeline.made_history import rows_of_levels, ticks, write
from tests.support.worker import worker

pytestmark = [pytest.mark.spark, pytest.mark.django_db(transaction=True)]
_DEADLINE_S = 600


@pytest.fixture
def sent(monkeypatch):
    """The messages that are sent."""
    found = []
    monkeypatch.setattr(tasks.current_app, "send_task", lambda *args, **_: found.append(args))
    return found


def running(slug):
    """A cluster with a job that is stored as running."""
    cluster = Cluster.objects.create(slug=slug, name=slug, bootstrap_servers="127.0.0.1:1")
    return PipelineRun.objects.create(
        cluster=cluster, kind="hour", start_ms=0, state=RunState.RUNNING, attempt=1,
        started_at=timezone.now(),
    )  # fmt: skip


def test_a_round_of_beat_does_all_hours_one_message_each(
    root, redis_server, spark_server, settings
):
    Cluster.objects.create(slug="local", name="Local", bootstrap_servers="127.0.0.1:1")
    start_ms = now_ms() // HOUR_MS * HOUR_MS - 2 * HOUR_MS
    write(root, ticks(3, 2, start_ms - HOUR_MS, has_topics=False))
    port = str(spark_server.port)
    with worker("spark", SPARK_CONNECT_PORT=port, HISTORY_URL=settings.HISTORY_URL) as process:
        tasks.send_roll_ups()
        deadline = time.monotonic() + _DEADLINE_S
        done = PipelineRun.objects.filter(kind="hour", state=RunState.DONE)
        while done.count() < 2:
            assert time.monotonic() < deadline, process.log.read_text()
            time.sleep(0.2)
    assert len(rows_of_levels(root)["hour ticks"]) == 2


def test_a_job_whose_worker_was_killed_waits_and_the_next_message_is_sent(redis_server, sent):
    lost = running("local")
    tasks.send("local")
    sent.clear()  # lost with the worker, which had fetched it
    tasks.end_lost_runs()
    lost.refresh_from_db()
    assert (lost.state, loads(lost.error).code) == (RunState.WAITING, "worker_lost")
    assert sent == [("monitoring.pipeline.tasks.roll_up", ("local",))]


def test_a_job_runs_on_while_its_worker_has_the_lock(redis_server, sent):
    run, lost = running("local"), running("other")
    with cluster_lock.held("local"):
        tasks.end_lost_runs()
    run.refresh_from_db()
    lost.refresh_from_db()
    assert (run.state, lost.state) == (RunState.RUNNING, RunState.WAITING)
    assert sent == [("monitoring.pipeline.tasks.roll_up", ("other",))]


def test_nothing_is_sent_for_clusters_without_a_running_job(redis_server, sent):
    Cluster.objects.create(slug="local", name="Local", bootstrap_servers="127.0.0.1:1")
    tasks.end_lost_runs()
    assert sent == []
