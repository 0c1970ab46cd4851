"""The jobs of a cluster through the database, Redis and Spark."""

import pytest

from monitoring.clusters.models import Cluster
from monitoring.error_reason import loads
from monitoring.history import read_levels
from monitoring.history.levels import HOUR_MS, RAW
from monitoring.history.root_folder import SpanFolder
from monitoring.pipeline import backfill, run_next_job, stored_runs, tasks
from monitoring.pipeline.do_job import Written
from monitoring.pipeline.due_jobs import MergeJob
from monitoring.pipeline.models import Backfill, PipelineRun, PipelineState, RunState
from monitoring.redis_lock import try_lock
from monitoring.reports.models import Report
from monitoring.spark.jobs import roll_up_and_merge
from tests.monitoring.pipeline.made_history import START_MS, rows_of_levels, ticks, write
from tests.support.ports import free_port

pytestmark = [pytest.mark.spark, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def cluster(root, redis_server, settings, monkeypatch):
    """A cluster with one hour of raw ticks, of which nothing expires, an hour later.

    It has no topics: what is done with the rows of each table is for test_do_job.py.
    """
    settings.AERIE_HISTORY_RAW_HOURS = settings.AERIE_HISTORY_MINUTE_DAYS = 0
    settings.AERIE_HISTORY_HOUR_DAYS = 0
    monkeypatch.setattr(run_next_job, "now_ms", lambda: START_MS + 2 * HOUR_MS)
    write(root, ticks(1, hours=1, has_topics=False))
    return Cluster.objects.create(slug="local", name="Local", bootstrap_servers="127.0.0.1:1")


def run(cluster):
    return PipelineRun.objects.get(cluster=cluster)


def test_an_hour_is_done_once_and_told_and_a_back_fill_does_it_again(cluster, root, spark_server):
    assert not run_next_job.run_next(cluster)
    done = run(cluster)
    assert (done.kind, done.start_ms, done.state) == ("hour", START_MS, RunState.DONE)
    assert done.rows > 0
    seen = PipelineState.objects.get(cluster=cluster)
    assert seen.waiting_hours == 0
    assert seen.levels["hour"]["last_ms"] == START_MS + HOUR_MS
    assert seen.levels["day"]["last_ms"] is None
    assert seen.levels["hour"]["seconds"] == done.seconds
    rows = rows_of_levels(root)
    assert not run_next_job.run_next(cluster)
    assert run(cluster).started_at == done.started_at

    backfill.start(cluster, START_MS, START_MS + HOUR_MS)
    run_next_job.run_next(cluster)
    assert run(cluster).started_at > done.started_at
    assert rows_of_levels(root) == rows
    run_next_job.run_next(cluster)
    assert not Backfill.objects.exists()


def test_without_spark_the_hour_waits_and_nothing_is_lost(cluster, root, settings):
    settings.SPARK_CONNECT_PORT = free_port()
    assert not run_next_job.run_next(cluster)
    waiting = run(cluster)
    assert waiting.state == RunState.WAITING
    assert loads(waiting.error).code == "spark_not_available"
    assert PipelineState.objects.get(cluster=cluster).waiting_hours == 1


def test_a_failed_hour_is_told_and_tried_again_later(cluster, monkeypatch):
    def fails(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(run_next_job, "_with_spark", fails)
    assert not run_next_job.run_next(cluster)
    failed = run(cluster)
    assert (failed.state, loads(failed.error).code) == (RunState.FAILED, "disk_full")
    run_next_job.run_next(cluster)
    assert run(cluster).attempt == 1
    PipelineRun.objects.update(started_at=failed.started_at - stored_runs.RETRY)
    run_next_job.run_next(cluster)
    assert run(cluster).attempt == 2


def test_the_manifests_are_read_once_before_a_job_and_once_after_it(cluster, monkeypatch):
    reads, real = [], run_next_job.manifest.files_of_cluster

    def counted(*args):
        reads.append(args)
        return real(*args)

    monkeypatch.setattr(run_next_job.manifest, "files_of_cluster", counted)
    monkeypatch.setattr(run_next_job, "_with_spark", lambda *_: Written(1, 1))
    run_next_job.run_next(cluster)
    assert len(reads) == 2
    monkeypatch.setattr(run_next_job, "_roll_ups", lambda *_: [])
    run_next_job.run_next(cluster)
    assert len(reads) == 3  # no job is due


def test_one_worker_at_a_time_works_on_a_cluster(cluster):
    with try_lock("aerie:pipeline:local", "another", 60_000):
        assert not run_next_job.run_next(cluster)
    assert not PipelineRun.objects.exists()


def test_a_run_of_a_worker_that_ended_is_noted(cluster, monkeypatch):
    def dies(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(run_next_job, "_with_spark", dies)
        with pytest.raises(KeyboardInterrupt):
            run_next_job.run_next(cluster)
    assert run(cluster).state == RunState.RUNNING
    stored_runs.mark_lost(cluster)
    assert (run(cluster).state, loads(run(cluster).error).code) == ("waiting", "worker_lost")


def test_a_waiting_report_goes_first_and_one_message_of_a_cluster_waits(cluster, monkeypatch):
    sent = []
    monkeypatch.setattr(tasks.current_app, "send_task", lambda *args, **_: sent.append(args))
    tasks.send_roll_ups()
    tasks.send_roll_ups()
    assert sent == [("monitoring.pipeline.tasks.roll_up", ("local",))]
    Report.objects.create(kind="throughput-and-lag", cluster=cluster)
    tasks.roll_up("local")
    assert not PipelineRun.objects.exists()
    tasks.send_roll_ups()
    assert len(sent) == 2


def test_expired_history_is_deleted(cluster, root, settings, monkeypatch):
    settings.AERIE_HISTORY_RAW_HOURS = 1
    write(root, ticks(1, 1, START_MS + 5 * HOUR_MS, has_topics=False))
    run_next_job.refresh(cluster)
    assert len(read_levels.ticks(root, "local", RAW, START_MS, START_MS + HOUR_MS))
    monkeypatch.setattr(run_next_job, "now_ms", lambda: START_MS + 4 * HOUR_MS)
    run_next_job.refresh(cluster)
    assert not len(read_levels.ticks(root, "local", RAW, START_MS, START_MS + HOUR_MS))


def test_a_merge_that_a_job_makes_due_is_done_next(cluster, root, monkeypatch, spark_server):
    merges, real = [], run_next_job._with_spark

    def done(*args):
        merges.append(MergeJob(SpanFolder("local", RAW, RAW.span_of(START_MS)), START_MS, 2**60))
        return real(*args)

    monkeypatch.setattr(run_next_job, "_with_spark", done)
    monkeypatch.setattr(run_next_job.due_jobs, "merges", lambda *_: list(merges))
    assert run_next_job.run_next(cluster)


def test_nothing_expires_while_a_job_runs(cluster, root, settings, monkeypatch, spark_server):
    run_next_job.run_next(cluster)
    rows = rows_of_levels(root)
    write(root, ticks(1, 1, START_MS + 5 * HOUR_MS, has_topics=False))
    settings.AERIE_HISTORY_RAW_HOURS = 1
    monkeypatch.setattr(run_next_job, "now_ms", lambda: START_MS + 4 * HOUR_MS)
    backfill.start(cluster, START_MS, START_MS + HOUR_MS)
    real = roll_up_and_merge.roll_up

    def refreshed(*args):
        run_next_job.refresh(cluster)
        real(*args)

    with monkeypatch.context() as patched:
        patched.setattr(roll_up_and_merge, "roll_up", refreshed)
        run_next_job.run_next(cluster)
    assert run(cluster).state == RunState.DONE
    assert rows_of_levels(root) == rows
    run_next_job.refresh(cluster)
    assert not len(read_levels.ticks(root, "local", RAW, START_MS, START_MS + HOUR_MS))
