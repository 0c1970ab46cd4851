import random
import string

import pytest

from monitoring import redis_client
from monitoring.clock import now_ms
from monitoring.ticks import tick_stream
from monitoring.ticks.free_redis_memory import free_redis_memory
from monitoring.ticks.tick_stream import put_tick
from tests.monitoring.tick_factory import INTERVAL_MS, make_tick


def noise_tick(number: int, cluster: str, letters: int):
    name = "".join(random.Random(number).choices(string.ascii_letters, k=letters))
    return make_tick(number, cluster=cluster, partitions=[{"topic": name, "partition": 0}])


def test_if_the_newest_minutes_fill_redis_the_largest_stream_is_halved(redis_server):
    client = redis_server.client()
    first = now_ms() // INTERVAL_MS - 20
    for number in range(first, first + 20):
        put_tick(noise_tick(number, "large", 100_000))
        put_tick(noise_tick(number, "small", 100))
    client.config_set("maxmemory", client.info("memory")["used_memory"] - 100_000)
    try:
        with pytest.raises(redis_client.RedisFull):
            put_tick(noise_tick(first + 20, "large", 100_000))
        free_redis_memory()
        assert put_tick(noise_tick(first + 20, "large", 100_000))
    finally:
        client.config_set("maxmemory", 0)
    assert len(list(tick_stream.recent_ticks("small", 0))) == 20
    assert tick_stream.latest_tick("large").tick == first + 20
