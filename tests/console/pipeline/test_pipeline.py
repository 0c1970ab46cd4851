"""The page of the data pipeline."""

from datetime import UTC, datetime

import pytest
from django.utils import timezone

from console.audit.models import AuditEntry
from console.ui import numbers, times
from monitoring.clock import now_ms
from monitoring.error_reason import Reason, dumps
from monitoring.history import append_ticks, written_range
from monitoring.history.levels import DAY_MS, HOUR_MS
from monitoring.history.root_folder import Root, current
from monitoring.models import Backfill, Cluster, LastBackfill, PipelineRun, PipelineState
from monitoring.pipeline import cluster_lock, run_next_job
from monitoring.pipeline.backfill import ATTEMPTS_MAX
from monitoring.pipeline.models import RunState
from tests.monitoring.tick_factory import INTERVAL_MS, make_tick

URL = "/c/local/pipeline"


@pytest.fixture
def cluster(sampled, tmp_path, settings):
    settings.HISTORY_URL = f"file://{tmp_path}/history"
    return Cluster.objects.get(slug="local")


def write_tick(at_ms):
    append_ticks._changes_by_cluster.clear()
    tick = make_tick(at_ms // INTERVAL_MS, partitions=[{"topic": "a", "partition": 0}])
    append_ticks.append(current(), "local", [tick])


def days(at_ms):
    day = datetime.fromtimestamp(at_ms / 1000, UTC).date().isoformat()
    return {"first": day, "last": day}


def backfill(cluster):
    return Backfill.objects.filter(cluster=cluster).first()


def failed_backfill(cluster, attempt):
    """A back-fill whose first hour has failed so often."""
    Backfill.objects.create(cluster=cluster, from_ms=0, to_ms=DAY_MS, next_ms=HOUR_MS)
    return PipelineRun.objects.create(
        cluster=cluster, kind="hour", start_ms=HOUR_MS, state=RunState.FAILED, attempt=attempt,
        started_at=timezone.now(), error=dumps(Reason("disk_full", why="No space left")),
    )  # fmt: skip


def test_it_shows_levels_and_what_failed_and_why(cluster, client_of, operator):
    figures = {
        "last_ms": 0, "rows": 12_345, "files": 3, "bytes": 4096, "bytes_a_day": 1024,
        "seconds": 4000,
    }  # fmt: skip
    PipelineState.objects.create(
        cluster=cluster, seen_ms=now_ms(), levels={"minute": figures}, waiting_hours=2
    )
    PipelineRun.objects.create(
        cluster=cluster, kind="hour", start_ms=HOUR_MS, state=RunState.FAILED, attempt=2,
        started_at=timezone.now(), error=dumps(Reason("disk_full", why="No space left")),
    )  # fmt: skip
    page = client_of(operator).get(URL).content.decode()
    assert numbers.count(12_345) in page
    assert f"<td>{times.duration(4000)}</td>" in page
    assert "2 hours wait to be computed" in page
    assert "No space is left for the history: No space left." in page
    assert "Start the back-fill" not in page


def test_a_running_job_whose_worker_shows_no_sign_of_life_says_so(
    cluster, client_of, operator, redis_server, monkeypatch
):
    monkeypatch.setattr(cluster_lock, "_RENEW_S", 1000.0)
    PipelineRun.objects.create(
        cluster=cluster, kind="hour", start_ms=HOUR_MS, state=RunState.RUNNING, attempt=1,
        started_at=timezone.now(),
    )  # fmt: skip
    client = client_of(operator)
    with cluster_lock.held("local"):
        page = client.get(URL).content.decode()
        assert "running" in page
        assert "Its worker" not in page
        redis_server.client().pexpire("aerie:pipeline:local", 8_000)  # not renewed for 12 s
        page = client.get(URL).content.decode()
        assert "No sign of life of its worker for 1" in page
    assert "Its worker has ended." in client.get(URL).content.decode()


def test_it_says_which_range_was_written(cluster, client_of, operator):
    client = client_of(operator)
    assert "written history" not in client.get(URL).content.decode()
    written_range.store(current(), "local", written_range.WrittenRange(0, DAY_MS, "recorded"))
    run_next_job.store_state(cluster)
    page = client.get(URL).content.decode()
    range_text = f"from {times.moment(0)} to {times.moment(DAY_MS)}"
    assert f"contains written history {range_text}" in page


def test_it_is_shown_without_the_history_which_may_not_answer(
    cluster, client_of, operator, monkeypatch
):
    def refuse(*_parts):
        raise AssertionError("a live page asked the history")

    for name in ("read", "entries", "names"):
        monkeypatch.setattr(Root, name, refuse)
    assert client_of(operator).get(URL).status_code == 200


def test_before_the_first_look_figures_are_unknown(cluster, client_of, admin):
    page = client_of(admin).get(URL).content.decode()
    assert "Not looked at yet" in page
    assert "—" in page


def test_the_free_space_is_that_of_now(cluster, client_of, admin):
    assert "Free on the disk of the history: " in client_of(admin).get(URL).content.decode()


def test_a_back_fill_says_which_hour_failed_and_that_it_is_tried_again(cluster, client_of, admin):
    failed_backfill(cluster, attempt=1)
    client = client_of(admin)
    page = client.get(URL).content.decode()
    assert f"The back-fill waits at {times.moment(HOUR_MS)}" in page
    assert "No space is left for the history: No space left." in page
    assert "Resume" not in page
    client.post(f"{URL}/resume")
    assert "No back-fill has failed." in client.get(URL).content.decode()


def test_a_back_fill_that_failed_often_is_resumed_by_an_admin_and_that_is_audited(
    cluster, client_of, admin
):
    run = failed_backfill(cluster, ATTEMPTS_MAX)
    client = client_of(admin)
    page = client.get(URL).content.decode()
    assert f"The back-fill has stopped at {times.moment(HOUR_MS)}" in page
    assert page.count("No space is left for the history: No space left.") >= 2  # also in the list
    write_tick(now_ms())
    again = client.post(URL, days(now_ms()))
    assert "A back-fill has failed. Resume it, or stop it." in again.content.decode()
    client.post(f"{URL}/resume")
    run.refresh_from_db()
    assert (run.state, run.attempt) == (RunState.WAITING, 0)
    assert AuditEntry.objects.filter(action="pipeline.resume").exists()
    assert "has stopped at" not in client.get(URL).content.decode()


def test_a_back_fill_that_is_done_says_when_it_ended_and_what_it_did(cluster, client_of, operator):
    LastBackfill.objects.create(
        cluster=cluster, from_ms=0, to_ms=DAY_MS, hours=24, days=1, ended_at=timezone.now()
    )
    client = client_of(operator)
    page = " ".join(client.get(URL).content.decode().split())
    range_text = f"from {times.moment(0)} to {times.moment(DAY_MS)}"
    assert f"The back-fill {range_text} is done. It computed 24 hours and 1 day again." in page
    assert "It ended" in page
    Backfill.objects.create(cluster=cluster, from_ms=0, to_ms=DAY_MS, next_ms=0)
    assert "is done" not in client.get(URL).content.decode()


def test_an_admin_starts_and_stops_a_back_fill_and_both_are_audited(cluster, client_of, admin):
    at_ms = now_ms()
    write_tick(at_ms)
    client = client_of(admin)
    assert client.post(URL, days(at_ms)).status_code == 302
    from_ms = at_ms - at_ms % DAY_MS
    assert backfill(cluster).next_ms == from_ms
    assert backfill(cluster).to_ms == from_ms + DAY_MS
    again = client.post(URL, days(at_ms))
    assert again.status_code == 422
    assert "A back-fill runs already" in again.content.decode()
    assert "Back-fill from" in client.get(URL).content.decode()
    client.post(f"{URL}/stop")
    assert backfill(cluster) is None
    actions = AuditEntry.objects.order_by("pk").values_list("action", flat=True)
    assert [action for action in actions if action.startswith("pipeline")] == [
        "pipeline.backfill", "pipeline.stop"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"first": "2020-01-01", "last": "2020-01-02"}, "No raw ticks of these days"),
        ({"first": "2020-01-02", "last": "2020-01-01"}, "The last day is before the first one."),
        ({"first": "2999-01-02", "last": "2999-01-03"}, "This lies in the future"),
        ({"first": "", "last": "x"}, "This field is required."),
    ],
)
def test_a_back_fill_that_cannot_be_says_why(cluster, client_of, admin, asked, told):
    response = client_of(admin).post(URL, asked)
    assert response.status_code == 422
    assert told in response.content.decode()
    assert not Backfill.objects.exists()
