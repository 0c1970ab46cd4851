"""Heartbeats of workers, and their ages."""

import psutil
import pytest

from monitoring import redis_client
from monitoring.background import stored_heartbeats
from tests.support.waiting import wait_until
from tests.support.worker import worker

BEAT_MS = int(stored_heartbeats.INTERVAL_S * 1000)


def age_ms(name):
    return stored_heartbeats.ages_ms().get(name)


def test_a_process_without_a_heartbeat_has_no_age(redis_server):
    stored_heartbeats.record("actions")
    assert list(stored_heartbeats.ages_ms()) == ["actions"]
    assert age_ms("actions") >= 0


def test_ages_use_the_clock_of_redis(redis_server, monkeypatch):
    stored_heartbeats.record("actions")
    seconds = redis_server.client().time()[0]
    noted = int(redis_server.client().hget(stored_heartbeats.KEY, "actions"))
    assert noted % 1000 == 0
    assert noted // 1000 <= seconds


def test_a_full_redis_raises_redis_full(redis_server):
    client = redis_server.client()
    client.config_set("maxmemory", 1)
    try:
        with pytest.raises(redis_client.RedisFull):
            stored_heartbeats.record("actions")
    finally:
        client.config_set("maxmemory", 0)
    redis_server.kill()
    with pytest.raises(redis_client.RedisDown, match="cannot be reached"):
        stored_heartbeats.record("actions")


@pytest.mark.django_db(transaction=True)
def test_a_worker_writes_no_heartbeat_while_its_pool_is_stopped(redis_server):
    with worker("spark") as running:
        wait_until(lambda: age_ms("spark") is not None, "it is heard", 120)
        [child] = psutil.Process(running.process.pid).children()
        child.suspend()
        try:
            wait_until(lambda: age_ms("spark") > 3 * BEAT_MS, "it is silent", 120)
        finally:
            child.resume()
        wait_until(lambda: age_ms("spark") < 2 * BEAT_MS, "it is heard again", 120)
