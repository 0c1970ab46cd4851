"""That the processes behind the console live: each says so into Redis, by its own main loop.

A process that was killed, is stopped or hangs says nothing more; readers judge by the age. One hash
holds for each name when it was last heard, by Redis's own clock, so that no two are compared.
"""

from monitoring import redis_client

KEY = "aerie:heartbeats"
BEAT_S = 5.0
# Of a busy machine: a loop that is a few beats late is not dead.
SILENT_MS = 30_000

_NOTE = "redis.call('hset', KEYS[1], ARGV[1], redis.call('time')[1] * 1000)"


def note(name: str) -> None:
    """`name` lives. Raises StoreDown."""
    with redis_client.guarded() as client:
        client.eval(_NOTE, 1, KEY, name)


def ages_ms() -> dict[str, int]:
    """How long ago each was heard. Raises StoreDown within half a second."""
    with redis_client.quick() as client:
        pipe = client.pipeline(transaction=False)
        pipe.time()
        pipe.hgetall(KEY)
        (seconds, micros), heard = pipe.execute()
    now_ms = int(seconds) * 1000 + int(micros) // 1000
    return {name.decode(): max(now_ms - int(at_ms), 0) for name, at_ms in heard.items()}
