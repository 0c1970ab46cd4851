import os
import time
import uuid
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.utils import timezone

from monitoring.console_topics import NAMES
from monitoring.models import Cluster
from monitoring.reports import report_lifecycle, report_queue, result_files, tasks
from monitoring.reports.kinds import RANGE_MS_MAX, THROUGHPUT_AND_LAG
from monitoring.reports.models import Report, State
from monitoring.scope import EVERYTHING, Scope
from tests.support.redis import RedisServer

pytestmark = pytest.mark.django_db
HOUR = {"from_ms": 0, "to_ms": 3_600_000}

PUBLIC = Scope(hidden_topics=NAMES)


@pytest.fixture
def cluster() -> Cluster:
    return Cluster.objects.create(slug="local", name="Local", bootstrap_servers="127.0.0.1:1")


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What would have gone to the queue."""
    messages: list[str] = []

    def send_task(name: str, arguments: tuple[str], **_options: object) -> None:
        assert name == tasks.run.name
        messages.append(*arguments)

    monkeypatch.setattr(report_queue.current_app, "send_task", send_task)
    return messages


def start(cluster: Cluster, **params: object) -> Report:
    return report_lifecycle.start(THROUGHPUT_AND_LAG, cluster, HOUR | params, None, PUBLIC)


def test_a_report_is_sent_once_its_row_is_there(
    cluster: Cluster, sent: list[str], django_capture_on_commit_callbacks
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        report = start(cluster)
        assert sent == []
    assert sent == [str(report.id)]
    report.refresh_from_db()
    assert report.sent_at is not None


@pytest.mark.parametrize(
    ("params", "word"),
    [
        ({"from_ms": None}, "missing"),
        ({"from_ms": "0"}, "missing"),
        ({"from_ms": 3_600_000, "to_ms": 0}, "too_short"),
        ({"from_ms": 0, "to_ms": RANGE_MS_MAX + 1}, "too_long"),
        ({"from_ms": -1}, "out_of_range"),
        ({"from_ms": 10**18, "to_ms": 10**18 + 10**6}, "out_of_range"),
    ],
)
def test_a_range_that_cannot_be_is_refused(cluster: Cluster, params: dict, word: str) -> None:
    with pytest.raises(ValueError, match=word):
        start(cluster, **params)


def test_waiting_reports_are_bounded(cluster: Cluster) -> None:
    for _ in range(report_lifecycle.WAITING_MAX):
        start(cluster)
    with pytest.raises(report_lifecycle.TooManyReports):
        start(cluster)


def test_a_reader_who_sees_less_is_refused(cluster: Cluster) -> None:
    public = start(cluster)
    of_admin = report_lifecycle.start(THROUGHPUT_AND_LAG, cluster, HOUR, None, EVERYTHING)
    assert report_lifecycle.reports_of_cluster(cluster, EVERYTHING) == [of_admin, public]
    assert report_lifecycle.reports_of_cluster(cluster, PUBLIC) == [public]
    assert report_lifecycle.get(cluster, of_admin.id, PUBLIC) is None
    assert report_lifecycle.get(cluster, of_admin.id, EVERYTHING) == of_admin


def test_a_report_is_found_only_in_its_own_cluster(cluster: Cluster) -> None:
    other = Cluster.objects.create(slug="other", name="Other", bootstrap_servers="127.0.0.1:2")
    report = start(cluster)
    assert report_lifecycle.get(other, report.id, EVERYTHING) is None
    assert report_lifecycle.reports_of_cluster(other, EVERYTHING) == []


def test_a_queued_report_is_cancelled_at_once_and_only_once(cluster: Cluster) -> None:
    report = start(cluster)
    assert report_lifecycle.cancel(report)
    assert not report_lifecycle.cancel(report)
    report.refresh_from_db()
    assert report.state == State.CANCELLED


def test_the_oldest_reports_go(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_lifecycle, "KEPT_MAX", 2)
    reports = [start(cluster) for _ in range(3)]
    assert set(Report.objects.all()) == set(reports[1:])


def test_a_report_of_a_dead_worker_is_sent_again(cluster: Cluster, sent: list[str]) -> None:
    report = start(cluster)
    long_ago = timezone.now() - timedelta(minutes=1)
    Report.objects.update(state=State.RUNNING, attempt=1, heartbeat_at=long_ago, progress=40)
    tasks.requeue_lost_reports()
    report.refresh_from_db()
    assert (report.state, report.progress, sent) == (State.QUEUED, 0, [str(report.id)])


def test_a_report_that_killed_two_workers_fails(cluster: Cluster, sent: list[str]) -> None:
    report = start(cluster)
    long_ago = timezone.now() - timedelta(minutes=1)
    Report.objects.update(state=State.RUNNING, attempt=2, heartbeat_at=long_ago)
    tasks.requeue_lost_reports()
    report.refresh_from_db()
    assert (report.state, report.error, sent) == (State.FAILED, "worker_lost", [])


def test_a_report_that_runs_is_left_alone(cluster: Cluster, sent: list[str]) -> None:
    report = start(cluster)
    Report.objects.update(state=State.RUNNING, attempt=1, heartbeat_at=timezone.now())
    tasks.requeue_lost_reports()
    report.refresh_from_db()
    assert (report.state, sent) == (State.RUNNING, [])


def test_a_message_that_was_never_sent_is_sent(cluster: Cluster, sent: list[str]) -> None:
    report = start(cluster)
    tasks.requeue_lost_reports()
    tasks.requeue_lost_reports()
    assert sent == [str(report.id)]


def test_results_without_a_report_are_swept_out(
    cluster: Cluster, sent: list[str], settings: LazySettings, tmp_path: Path
) -> None:
    settings.AERIE_DATA = tmp_path
    kept, gone = start(cluster), uuid.uuid4()
    for report_id in (kept.id, gone):
        result_files.write(report_id, {}, {}, {})
    for draft in ("old", "new"):
        (result_files.root() / f".{gone}-{draft}").mkdir()
    (result_files.root() / "notes").mkdir()
    long_ago = time.time() - report_lifecycle.TEMPORARY_KEPT_S - 60
    os.utime(result_files.root() / f".{gone}-old", (long_ago, long_ago))
    tasks.requeue_lost_reports()
    found = {path.name for path in result_files.root().iterdir()}
    assert found == {str(kept.id), f".{gone}-new", "notes"}


def test_a_report_that_waits_its_turn_is_not_sent_again(cluster: Cluster, sent: list[str]) -> None:
    running, waiting = start(cluster), start(cluster)
    old = timezone.now() - timedelta(hours=1)
    Report.objects.filter(pk=running.pk).update(state=State.RUNNING, heartbeat_at=timezone.now())
    Report.objects.filter(pk=waiting.pk).update(sent_at=old)
    tasks.requeue_lost_reports()
    assert sent == []
    Report.objects.filter(pk=running.pk).update(state=State.DONE)
    tasks.requeue_lost_reports()
    assert sent == [str(waiting.id)]


def test_a_queue_that_is_away_delays_a_report(
    cluster: Cluster, redis_server: RedisServer, django_capture_on_commit_callbacks
) -> None:
    redis_server.kill()
    with django_capture_on_commit_callbacks(execute=True):
        report = start(cluster)
    report.refresh_from_db()
    assert (report.state, report.sent_at) == (State.QUEUED, None)
