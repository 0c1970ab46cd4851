"""Single flight: at most one worker samples a cluster, even when two beats send the same tick.

The lock holds the tick's number and lives for one interval at most; only the tick that took it
lets it go. What it guards is safe without it, too: Redis refuses a tick that is not newer than
the last (see encode.py). The lock saves the cluster the work.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from monitoring import store

_RELEASE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end"


def _key(slug: str) -> str:
    return f"aerie:{slug}:sampling"


@contextmanager
def single_flight(slug: str, tick: int, interval_ms: int) -> Iterator[int | None]:
    """Hold the lock inside. Yields the tick that holds it instead, None when we do."""
    with store.guarded() as client:
        taken = client.set(_key(slug), tick, nx=True, px=interval_ms)
        holder = None if taken else client.get(_key(slug))
    if not taken:
        yield int(holder) if holder else tick
        return
    try:
        yield None
    finally:
        with store.guarded() as client:
            client.eval(_RELEASE, 1, _key(slug), tick)
