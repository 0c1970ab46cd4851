"""The connection to Redis, one pool a process, and the one error for its absence.

Every call is bounded (2 s), so a page or a tick never hangs on a Redis that is gone; the pool
reconnects by itself when it is back.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

import redis
from django.conf import settings

_TIMEOUT_S = 2.0
_REFUSALS = ("LOADING", "MISCONF", "OOM ", "READONLY", "MASTERDOWN")


class StoreDown(Exception):
    """Redis does not answer. Always worth another try; nothing was changed for certain."""

    retriable = True


@lru_cache(maxsize=4)
def _client_of(url: str) -> redis.Redis:
    return redis.Redis.from_url(
        url,
        socket_timeout=_TIMEOUT_S,
        socket_connect_timeout=_TIMEOUT_S,
        health_check_interval=30,
    )


def client() -> redis.Redis:
    """The shared client of this process (threads may share it). Values are bytes."""
    return _client_of(settings.REDIS_URL)


@contextmanager
def guarded() -> Iterator[redis.Redis]:
    """The client, with every failure to reach Redis raised as StoreDown."""
    try:
        yield client()
    except (redis.ConnectionError, redis.TimeoutError) as error:
        raise StoreDown(f"Redis cannot be reached: {error}") from error
    except redis.ResponseError as error:
        if any(word in str(error) for word in _REFUSALS):
            raise StoreDown(f"Redis refuses work: {error}") from error
        raise
