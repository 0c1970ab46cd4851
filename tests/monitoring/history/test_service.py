"""History is written by one worker at a time, and one that finds another says so."""

from types import SimpleNamespace

import pytest

from monitoring.history import reader, service
from monitoring.redis_client import StoreDown
from monitoring.redis_lock import try_lock
from monitoring.reports import kinds
from monitoring.ticks.tick_stream import put_tick
from tests.monitoring.tick_factory import make_tick


def put(slug="local"):
    put_tick(make_tick(10, cluster=slug, partitions=[{"topic": "a", "partition": 0}]))


def stored(slug="local"):
    return reader.read(slug, "ticks", 0, 10**6, ["tick"]).to_pydict()["tick"]


def test_the_samples_of_the_clusters_named_are_stored(root, redis_server):
    put("local")
    put("other")
    assert service.flush(["local"])
    assert (stored("local"), stored("other")) == ([10], [])


def test_where_another_worker_writes_nothing_is_done_and_that_is_told(root, redis_server):
    put()
    with try_lock(service._LOCK, "another", 10_000):
        assert not service.flush(["local"])
        assert not service.compact_and_expire()
    assert stored() == []
    assert service.flush(["local"])


def test_a_cluster_that_cannot_be_written_does_not_hold_up_the_next(root, redis_server):
    put("broken")
    put("local")
    root.write(b"", "cluster=broken")  # a file where its folder must be
    assert service.flush(["broken", "local"])
    assert stored("local") == [10]


def test_without_redis_nothing_is_flushed_and_that_is_an_error(root, redis_server):
    redis_server.kill()
    with pytest.raises(StoreDown):
        service.flush(["local"])


def test_a_report_says_in_the_log_that_it_does_without_the_newest_samples(
    root, redis_server, caplog
):
    report = SimpleNamespace(id="r1", cluster=SimpleNamespace(slug="local"))
    kinds._store_newest_samples(report)
    assert caplog.messages == []
    with try_lock(service._LOCK, "another", 10_000):
        kinds._store_newest_samples(report)
    assert caplog.messages == [
        "report r1 does without the newest samples: another worker writes history now"
    ]
