import pytest

from monitoring.clusters.models import Cluster
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


@pytest.mark.parametrize(
    ("free", "total", "is_full"),
    [
        (2**29, 2**40, True),
        (2**31, 2**40, False),
        (2**29, 2**30, False),  # half of a small disk
        (None, None, False),
    ],
)
def test_a_disk_is_full_when_less_than_a_gibibyte_and_three_percent_are_free(free, total, is_full):
    store(disk_free_bytes=free, disk_total_bytes=total)
    assert current(NOW_MS).is_disk_full == is_full
