"""A lock in Redis that expires, so that a dead process blocks the others for a limited time.

The key's value is the holder's name; only this holder releases the lock. The lock avoids double
work but does not exclude it: a process can still run when its lock has expired. So writers also
check (tick_stream.py: Redis refuses a tick that is not newer; manifest.py: each manifest number is
written once).
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

from monitoring import redis_client

_RELEASE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end"
_RENEW = (
    "if redis.call('get', KEYS[1]) == ARGV[1] then "
    "return redis.call('pexpire', KEYS[1], ARGV[2]) end"
)

log = logging.getLogger(__name__)


@contextmanager
def try_lock(key: str, holder: str, lifetime_ms: int) -> Iterator[str | None]:
    """Try to take the lock. Yields None on success, else the other holder's name.

    `holder` is used by this call alone. Raises RedisDown.
    """
    with redis_client.guarded() as client:
        taken = client.set(key, holder, nx=True, px=lifetime_ms)
        current = None if taken else cast(bytes | None, client.get(key))
        # After a lost connection the client sends the SET again: the first one may have set it.
        taken = taken or current == holder.encode()
    if not taken:
        # If the lock was released meanwhile, there is no other name to yield.
        yield current.decode() if current else holder
        return
    try:
        yield None
    finally:
        _release(key, holder)


def renew(key: str, holder: str, lifetime_ms: int) -> None:
    """Extend the lock, if `holder` still has it. Raises RedisDown."""
    with redis_client.guarded() as client:
        client.eval(_RENEW, 1, key, holder, lifetime_ms)


def _release(key: str, holder: str) -> None:
    try:
        with redis_client.guarded() as client:
            client.eval(_RELEASE, 1, key, holder)
    except redis_client.RedisDown:
        log.warning(
            "the lock %s was not released, since Redis does not answer; it will expire", key
        )
