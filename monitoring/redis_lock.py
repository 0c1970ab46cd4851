"""A lock in Redis: at most one process does a thing, and a dead one blocks it for a bounded time.

The lock holds its holder's name and lives for `lifetime_ms` at most; only the holder that took it
lets it go. It saves work and is no proof: whoever may outlive the lock guards its writing besides
(encode.py: Redis refuses a tick that is not newer; manifest.py: a number is written once).
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

from monitoring import redis_client

_RELEASE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end"

log = logging.getLogger(__name__)


@contextmanager
def held(key: str, holder: str, lifetime_ms: int) -> Iterator[str | None]:
    """Hold the lock inside. Yields None when we do, else who holds it. Raises StoreDown."""
    with redis_client.guarded() as client:
        taken = client.set(key, holder, nx=True, px=lifetime_ms)
        other = None if taken else cast(bytes | None, client.get(key))
    if not taken:
        yield other.decode() if other else holder  # it ended between the two: not ours either
        return
    try:
        yield None
    finally:
        _release(key, holder)


def _release(key: str, holder: str) -> None:
    try:
        with redis_client.guarded() as client:
            client.eval(_RELEASE, 1, key, holder)
    except redis_client.StoreDown:
        log.warning("the lock %s is kept until it runs out: Redis does not answer", key)
