from pathlib import Path

import pytest
from django.utils import timezone

from console.health import pipeline_metrics as metrics_module
from console.health.pipeline_metrics import pipeline_metrics
from monitoring.error_reason import Reason, dumps
from monitoring.error_reason_texts import PIPELINE
from monitoring.history import flush_state, history_disk
from monitoring.history.levels import HOUR_MS
from monitoring.models import Cluster, PipelineRun, PipelineState
from monitoring.pipeline import backfill
from monitoring.pipeline.models import Backfill, RunState

pytestmark = pytest.mark.django_db
DOCS = Path(__file__).resolve().parents[3] / "docs" / "metrics.md"


def stored(slug="a", **values):
    cluster = Cluster.objects.create(slug=slug, name=slug, bootstrap_servers="127.0.0.1:1")
    PipelineState.objects.create(cluster=cluster, **values)
    return cluster


def run(cluster, state, error, **values):
    values = {"kind": "hour", "start_ms": PipelineRun.objects.count() * HOUR_MS} | values
    PipelineRun.objects.create(
        cluster=cluster, state=state, started_at=timezone.now(), error=error, **values
    )


def fill_back(cluster, hours=24, next_ms=0):
    """A back-fill of so many hours, whose next job is `next_ms` behind its start."""
    from_ms = 48 * HOUR_MS
    Backfill.objects.create(
        cluster=cluster, from_ms=from_ms, to_ms=from_ms + hours * HOUR_MS, next_ms=from_ms + next_ms
    )


def values(name):
    """Labels → value of a metric."""
    return dict(
        line.removeprefix(name).rsplit(" ", 1)
        for line in pipeline_metrics()
        if line.startswith((f"{name}{{", f"{name} "))
    )


def test_all_lines_of_a_metric_are_together_and_only_counters_end_in_total():
    stored("a", levels={"hour": {"last_ms": 1, "rows": 1, "files": 1, "bytes": 1, "seconds": 1}})
    fill_back(stored("b"))
    names = [line.split("{")[0] for line in pipeline_metrics() if not line.startswith("#")]
    changes = [name for before, name in zip(["", *names], names, strict=False) if before != name]
    assert len(changes) == len(set(changes))
    assert not any(name.endswith("_total") for name in names)


def test_it_says_when_the_figures_were_stored():
    stored("a", seen_ms=7_500)
    stored("b")
    assert values("aerie_pipeline_seen_timestamp_seconds") == {'{cluster="a"}': "7.5"}


def test_a_level_has_the_seconds_of_its_last_roll_up():
    figures = {"last_ms": None, "rows": 0, "files": 0, "bytes": 0}
    levels = {"raw": figures | {"seconds": None}, "hour": figures | {"seconds": 5.25}}
    stored("a", levels=levels)
    stored("b", levels={"day": figures})  # as an older version stored it
    assert values("aerie_pipeline_last_roll_up_duration_seconds") == {
        '{cluster="a",level="hour"}': "5.25"
    }


def test_jobs_that_are_not_done_are_counted_by_reason():
    cluster = stored("a")
    stored("b")
    for free in ("/a", "/b"):
        run(cluster, RunState.FAILED, dumps(Reason("disk_full", why=f"No space left on {free}")))
    run(cluster, RunState.WAITING, dumps(Reason("spark_not_available", why="refused")))
    run(cluster, RunState.DONE, "")
    run(cluster, RunState.RUNNING, "")
    counts = values("aerie_pipeline_not_done_jobs")
    assert {labels: count for labels, count in counts.items() if count != "0"} == {
        '{cluster="a",reason="disk_full"}': "2",
        '{cluster="a",reason="spark_not_available"}': "1",
    }
    assert values("aerie_pipeline_failed_jobs") == {'{cluster="a"}': "2", '{cluster="b"}': "0"}


def test_the_reasons_are_bounded_whatever_is_stored():
    cluster = stored("a")
    run(cluster, RunState.FAILED, "a text of an older version")
    run(cluster, RunState.FAILED, '{"code":"of_a_newer_version","params":{},"text":"x"}')
    run(cluster, RunState.FAILED, dumps(Reason("not_run")))  # a code, but not of a job
    counts = values("aerie_pipeline_not_done_jobs")
    assert counts.keys() == {
        f'{{cluster="a",reason="{reason}"}}' for reason in (*PIPELINE, "other")
    }
    assert counts['{cluster="a",reason="other"}'] == "3"


@pytest.mark.parametrize(
    ("next_ms", "done"),
    [(0, "0"), (HOUR_MS, "1"), (24 * HOUR_MS - 1, "24")],
)
def test_a_back_fill_has_its_hours_and_those_that_are_done(next_ms, done):
    fill_back(stored("a"), next_ms=next_ms)
    assert values("aerie_pipeline_backfill_running") == {'{cluster="a"}': "1"}
    assert values("aerie_pipeline_backfill_failed") == {'{cluster="a"}': "0"}
    assert values("aerie_pipeline_backfill_hours") == {'{cluster="a"}': "24"}
    assert values("aerie_pipeline_backfill_done_hours") == {'{cluster="a"}': done}


def test_a_back_fill_that_waits_at_a_failed_job_has_failed():
    cluster = stored("a")
    fill_back(cluster, next_ms=HOUR_MS)
    attempts = backfill.ATTEMPTS_MAX
    run(cluster, RunState.FAILED, "", kind="hour", start_ms=49 * HOUR_MS, attempt=attempts)
    assert values("aerie_pipeline_backfill_running") == {'{cluster="a"}': "0"}
    assert values("aerie_pipeline_backfill_failed") == {'{cluster="a"}': "1"}
    assert values("aerie_pipeline_backfill_done_hours") == {'{cluster="a"}': "1"}


def test_without_a_back_fill_its_hours_are_unknown():
    stored("a")
    assert values("aerie_pipeline_backfill_running") == {'{cluster="a"}': "0"}
    assert not values("aerie_pipeline_backfill_hours")
    assert not values("aerie_pipeline_backfill_done_hours")


def test_the_disk_of_the_history_has_its_size_what_is_free_and_whether_it_is_full():
    assert int(values("aerie_history_disk_free_bytes")[""]) > 0
    assert int(values("aerie_history_disk_size_bytes")[""]) > 2**30
    assert values("aerie_history_disk_full") == {"": "0"}


def test_a_disk_that_is_not_known_has_no_lines(monkeypatch):
    monkeypatch.setattr(history_disk, "space", lambda _root: None)
    assert not values("aerie_history_disk_free_bytes")
    assert not values("aerie_history_disk_full")


def is_documented(name, text):
    """The name stands there in full, or its end after "…"."""
    ends = [f"…{name[at:]}" for at, letter in enumerate(name) if letter == "_"]
    return any(f"`{each}`" in text for each in [name, *ends])


def test_every_metric_and_every_reason_is_documented():
    stored("a")
    text = DOCS.read_text().split("## The console")[1]
    names = {line.split()[2] for line in pipeline_metrics() if line.startswith("# TYPE ")}
    assert "aerie_history_disk_full" in names
    assert {name for name in (*names, *PIPELINE) if not is_documented(name, text)} == set()


def test_it_says_for_how_long_new_samples_are_not_written(redis_server, monkeypatch):
    stored("a")
    Cluster.objects.create(slug="b", name="b", bootstrap_servers="127.0.0.1:1")  # no state yet
    monkeypatch.setattr(metrics_module, "now_ms", lambda: 1_000_000)
    flush_state.note_begun("b", 1_000_000 - flush_state.LATE_MS)
    unwritten = values("aerie_history_unwritten_seconds")
    assert unwritten == {'{cluster="a"}': "0.0", '{cluster="b"}': "180.0"}
    redis_server.kill()
    assert values("aerie_history_unwritten_seconds") == {}
