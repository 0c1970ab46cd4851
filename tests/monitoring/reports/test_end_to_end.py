"""A report through all that is real: Redis, a Celery worker, Spark, the history's files."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import connection
from django.utils import timezone
from pyspark.errors import UnknownException

from monitoring.console_topics import NAMES
from monitoring.history.append_ticks import append
from monitoring.history.levels import RAW
from monitoring.history.read_levels import locations
from monitoring.history.root_folder import current
from monitoring.models import Cluster
from monitoring.reports import kinds, report_lifecycle, result_files, tasks
from monitoring.reports.compute_report import run_report
from monitoring.reports.models import Report, State
from monitoring.scope import EVERYTHING, Scope
from monitoring.spark.server_config import SparkConfig
from monitoring.ticks.tick import Tick
from tests.monitoring.spark import bad_day
from tests.monitoring.tick_factory import make_tick
from tests.support.ports import free_port
from tests.support.redis import RedisServer
from tests.support.worker import Worker, worker

pytestmark = [pytest.mark.spark, pytest.mark.django_db(transaction=True)]
_DEADLINE_S = 180
PUBLIC = Scope(hidden_topics=NAMES)


@pytest.fixture
def cluster(redis_server: RedisServer) -> Cluster:
    return Cluster.objects.create(slug="e2e", name="E2E", bootstrap_servers="127.0.0.1:1")


@pytest.fixture(scope="module")
def ticks() -> list[Tick]:
    """A bad day in the history of the cluster `e2e`."""
    found = bad_day.a_bad_day(seed=11, ticks=120, cluster="e2e")
    append(current(), "e2e", found)
    return found


def params_of(ticks: list[Tick]) -> dict[str, int]:
    return {"from_ms": ticks[0].at_ms, "to_ms": ticks[-1].at_ms + 1}


def wait_for(report: Report, is_true: Callable[[Report], bool], running: Worker) -> None:
    deadline = time.monotonic() + _DEADLINE_S
    while True:
        report.refresh_from_db()
        if is_true(report):
            return
        if time.monotonic() > deadline or running.process.poll() is not None:
            raise AssertionError(f"{report.state} {report.stage}\n{running.log.read_text()}")
        time.sleep(0.1)


def test_a_report_outlives_its_worker_and_waits_for_spark(
    cluster: Cluster, ticks: list[Tick], spark_server: SparkConfig
) -> None:
    params = params_of(ticks)
    report = report_lifecycle.start(kinds.THROUGHPUT_AND_LAG, cluster, params, None, PUBLIC)
    with worker("spark", SPARK_CONNECT_PORT=str(free_port())) as first:
        wait_for(report, lambda row: row.stage == "starting", first)
        assert report.state == State.RUNNING
        first.kill()
    long_ago = timezone.now() - 2 * tasks.SILENCE_MAX
    Report.objects.filter(pk=report.pk).update(heartbeat_at=long_ago)
    tasks.requeue_lost_reports()
    with worker("spark", SPARK_CONNECT_PORT=str(spark_server.port)) as second:
        wait_for(report, lambda row: row.is_finished, second)
    assert (report.state, report.progress, report.attempt) == (State.DONE, 100, 2)
    check(report, ticks)


def test_a_worker_that_is_stopped_hands_its_report_back(
    cluster: Cluster, ticks: list[Tick]
) -> None:
    params = params_of(ticks)
    report = report_lifecycle.start(kinds.THROUGHPUT_AND_LAG, cluster, params, None, PUBLIC)
    with worker("spark", SPARK_CONNECT_PORT=str(free_port())) as running:
        wait_for(report, lambda row: row.stage == "starting", running)
        said_before = running.log.stat().st_size
        running.process.terminate()
        assert running.process.wait(_DEADLINE_S) == 0
    report.refresh_from_db()
    assert (report.state, report.sent_at, report.error) == (State.QUEUED, None, "")
    assert "Traceback" not in running.log.read_bytes()[said_before:].decode()


def test_a_spark_that_is_stopped_meanwhile_is_waited_for(
    cluster: Cluster, spark_server: SparkConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = _start(cluster, monkeypatch)
    computed = kinds.KINDS[kinds.THROUGHPUT_AND_LAG].compute
    stopped = [UnknownException("Cannot call methods on a stopped SparkContext.")]

    def compute(spark, report, on_stage):
        if stopped:
            raise stopped.pop()
        return computed(spark, report, on_stage)

    _compute_with(monkeypatch, compute)
    run_report(report.id)
    report.refresh_from_db()
    assert (report.state, report.attempt) == (State.DONE, 1)


def check(report: Report, ticks: list[Tick]) -> None:
    """The stored result says what plain Python says, without the hidden topics."""
    result = result_files.read(report.result_dir)
    params = params_of(ticks)
    topics = bad_day.topics_of(ticks, **params)
    stored = {row["topic"]: row["messages"] for row in result.table("topics", 99)}
    assert stored == {name: row["messages"] for name, row in topics.items() if name not in NAMES}
    slow = bad_day.groups_of(ticks, **params)["slow"]
    stored = {row["group"]: row for row in result.table("groups", 99)}
    assert {name: stored["slow"][name] for name in slow} == pytest.approx(slow)
    assert {line["name"] for line in result.charts["messages"]["series"]} == set(topics) - NAMES
    assert set(result.rows) == {"topics", "topic_series", "groups", "group_series"}


def _start(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> Report:
    monkeypatch.setattr(report_lifecycle, "send", lambda report: None)
    return report_lifecycle.start(
        kinds.THROUGHPUT_AND_LAG, cluster, {"from_ms": 0, "to_ms": 3_600_000}, None, EVERYTHING
    )


def _compute_with(monkeypatch: pytest.MonkeyPatch, compute: Callable) -> None:
    kind = kinds.KINDS[kinds.THROUGHPUT_AND_LAG]
    other = kinds.ReportKind(stages=kind.stages, compute=compute, charts=kind.charts)
    monkeypatch.setitem(kinds.KINDS, kinds.THROUGHPUT_AND_LAG, other)


def test_a_running_report_is_cancelled_by_interrupting_spark(
    cluster: Cluster, spark_server: SparkConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = _start(cluster, monkeypatch)

    def compute(spark, report, on_stage):
        on_stage(0)
        threading.Timer(0.5, cancel).start()
        spark.sql("select count(*) from range(20000000000) where hash(id) = 7").collect()
        raise AssertionError("the query was not interrupted")

    def cancel() -> None:
        report_lifecycle.cancel(report)
        connection.close()

    _compute_with(monkeypatch, compute)
    run_report(report.id)
    report.refresh_from_db()
    assert (report.state, report.result_dir) == (State.CANCELLED, "")
    assert not (result_files.root() / str(report.id)).exists()


def test_a_job_that_fails_marks_its_report(
    cluster: Cluster, spark_server: SparkConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = _start(cluster, monkeypatch)
    _compute_with(monkeypatch, lambda spark, report, on_stage: spark.sql("no sql").collect())
    run_report(report.id)
    report.refresh_from_db()
    assert (report.state, report.error) == (State.FAILED, "failed")
    assert report.finished_at is not None


@pytest.mark.parametrize("harm", [Path.unlink, lambda file: file.write_bytes(b"PAR1 no more")])
def test_a_file_of_samples_that_is_gone_or_damaged_is_reported(
    cluster: Cluster, spark_server: SparkConfig, monkeypatch: pytest.MonkeyPatch, harm: Callable
) -> None:
    Cluster.objects.update(slug=f"harmed-{cluster.pk}-{time.time_ns()}")  # a history of its own
    cluster.refresh_from_db()
    tick = make_tick(1, cluster=cluster.slug, partitions=[{"topic": "t", "partition": 0}])
    append(current(), cluster.slug, [tick])
    report = _start(cluster, monkeypatch)
    [file] = locations(current(), cluster.slug, RAW, "topics", tick.at_ms, tick.at_ms + 1)
    harm(Path(file))
    run_report(report.id)
    report.refresh_from_db()
    assert (report.state, report.error) == (State.FAILED, "samples_gone")


def test_a_message_that_comes_twice_computes_once(
    cluster: Cluster, spark_server: SparkConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = _start(cluster, monkeypatch)
    run_report(report.id)
    run_report(report.id)
    report.refresh_from_db()
    assert (report.state, report.attempt) == (State.DONE, 1)
    assert result_files.read(report.result_dir).figures["ticks"] == 0
