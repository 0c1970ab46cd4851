"""History is written by one worker at a time, and one that finds another says so."""

from types import SimpleNamespace

import pytest

from monitoring.history import locked_writer
from monitoring.redis_client import RedisDown
from monitoring.redis_lock import try_lock
from monitoring.reports import kinds
from monitoring.ticks.tick_stream import put_tick
from tests.monitoring.history.stored import stored_ticks
from tests.monitoring.tick_factory import make_tick


def put(slug="local"):
    put_tick(make_tick(10, cluster=slug, partitions=[{"topic": "a", "partition": 0}]))


def stored(slug="local"):
    return stored_ticks(slug)


def test_the_samples_of_the_given_clusters_are_stored(root, redis_server):
    put("local")
    put("other")
    assert locked_writer.flush(["local"])
    assert (stored("local"), stored("other")) == ([10], [])


def test_flush_does_nothing_and_returns_false_while_another_worker_writes(root, redis_server):
    put()
    with try_lock(locked_writer._LOCK, "another", 10_000):
        assert not locked_writer.flush(["local"])
        assert not locked_writer.delete_unlisted()
    assert stored() == []
    assert locked_writer.flush(["local"])


def test_an_error_of_one_cluster_does_not_stop_the_next(root, redis_server):
    put("broken")
    put("local")
    root.write(b"", "cluster=broken")  # a file where its folder must be
    assert locked_writer.flush(["broken", "local"])
    assert stored("local") == [10]


def test_flush_without_redis_raises_an_error(root, redis_server):
    redis_server.kill()
    with pytest.raises(RedisDown):
        locked_writer.flush(["local"])


def test_a_report_without_the_newest_samples_logs_a_warning(root, redis_server, caplog):
    report = SimpleNamespace(id="r1", cluster=SimpleNamespace(slug="local"))
    kinds._store_newest_samples(report)
    assert caplog.messages == []
    with try_lock(locked_writer._LOCK, "another", 10_000):
        kinds._store_newest_samples(report)
    assert caplog.messages == [
        "report r1 lacks the newest samples: another worker writes the history"
    ]
