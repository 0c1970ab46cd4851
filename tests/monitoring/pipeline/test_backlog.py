import pytest

from monitoring.clusters.models import Cluster
from monitoring.history import flush_state, history_disk
from monitoring.history.levels import HOUR_MS
from monitoring.pipeline.backlog import Backlog, current
from monitoring.pipeline.models import PipelineState

pytestmark = pytest.mark.django_db
NOW_MS = 10_000 * HOUR_MS


def store(slug="a", **values):
    cluster = Cluster.objects.create(slug=slug, name=slug, bootstrap_servers="127.0.0.1:1")
    PipelineState.objects.create(cluster=cluster, **{"seen_ms": NOW_MS, **values})


def test_nothing_waits():
    store()
    assert current(NOW_MS) == Backlog()


def test_an_hour_that_waits_for_three_hours_is_a_growing_backlog():
    store(waiting_hours=3, oldest_waiting_ms=NOW_MS - 4 * HOUR_MS)
    store("b", waiting_hours=1, oldest_waiting_ms=NOW_MS - 2 * HOUR_MS)
    since_ms = NOW_MS - 3 * HOUR_MS
    assert current(NOW_MS) == Backlog(hours=4, since_ms=since_ms, is_growing=True)
    assert not current(NOW_MS - 1).is_growing


def test_a_state_that_nobody_renewed_says_nothing():
    store(waiting_hours=3, oldest_waiting_ms=0, seen_ms=NOW_MS - 2 * HOUR_MS)
    assert current(NOW_MS) == Backlog()


def test_a_full_disk_is_known_at_once_also_if_no_worker_looks(monkeypatch):
    assert not current(NOW_MS).is_disk_almost_full
    monkeypatch.setattr(history_disk, "_FREE_SHARE_MIN", 2.0)
    monkeypatch.setattr(history_disk, "_FREE_BYTES_MIN", 2**63)
    assert current(NOW_MS).is_disk_almost_full
    assert not current(NOW_MS).is_disk_full
    monkeypatch.setattr(history_disk, "_ONE_WRITE_BYTES", 2**63)
    assert current(NOW_MS).is_disk_full


def test_new_ticks_that_are_not_written_are_known_since_the_first_flush_that_failed(redis_server):
    store("a")
    store("b")
    for slug, at_ms in (("a", NOW_MS - HOUR_MS), ("b", NOW_MS - 2 * HOUR_MS), ("gone", 0)):
        flush_state.note_begun(slug, at_ms)
    assert current(NOW_MS) == Backlog(unwritten_since_ms=NOW_MS - 2 * HOUR_MS)
    flush_state.note_done("b")
    flush_state.note_done("a")
    assert current(NOW_MS) == Backlog()
