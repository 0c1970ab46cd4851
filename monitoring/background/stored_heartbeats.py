"""Heartbeats of background processes: the main loop of each writes the time to Redis.

A process that was killed, stopped or hangs writes no more heartbeats; readers check the age. A hash
has the time of the last heartbeat by name, in Redis's own clock, so that clocks of different
machines are never compared.
"""

from monitoring import redis_client

KEY = "aerie:heartbeats"
INTERVAL_S = 5.0
# Some heartbeats may be late on a busy machine.
SILENT_MS = 30_000

_RECORD_LUA = "redis.call('hset', KEYS[1], ARGV[1], redis.call('time')[1] * 1000)"


def record(name: str) -> None:
    """Record a heartbeat of `name`. Raises RedisDown."""
    with redis_client.guarded() as client:
        client.eval(_RECORD_LUA, 1, KEY, name)


def ages_ms() -> dict[str, int]:
    """The age of the last heartbeat by name. Raises RedisDown within half a second."""
    with redis_client.quick() as client:
        pipe = client.pipeline(transaction=False)
        pipe.time()
        pipe.hgetall(KEY)
        (seconds, micros), recorded = pipe.execute()
    now_ms = int(seconds) * 1000 + int(micros) // 1000
    return {name.decode(): max(now_ms - int(at_ms), 0) for name, at_ms in recorded.items()}
