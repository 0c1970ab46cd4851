"""Redis clients with time-outs, and the exception for a Redis that is not available.

Workers use `guarded`, with a time-out of 2 s. Pages use `quick`, with a time-out of 0.4 s. After a
failure `quick` fails at once for some seconds, so that a page that reads several keys waits only
once. Both have one connection pool per process, which reconnects by itself.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import cast

import redis
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

_TIMEOUT_S, _QUICK_TIMEOUT_S = 2.0, 0.4
_BACKOFF_S = 3.0
_REFUSALS = ("LOADING", "MISCONF", "READONLY", "MASTERDOWN")
StreamEntry = tuple[bytes, dict[bytes, bytes]]  # (id, fields)
_retry_at: dict[str, float] = {}  # URL → when `quick` tries again


class RedisDown(Exception):
    """Redis does not answer. Retriable; a write may or may not have been executed."""

    retriable = True


class RedisFull(RedisDown):
    """Redis has reached `maxmemory` and refuses writes. Deletes still work."""


@lru_cache(maxsize=8)
def _client_of(url: str, timeout_s: float) -> redis.Redis:
    return redis.Redis.from_url(
        url,
        socket_timeout=timeout_s,
        socket_connect_timeout=timeout_s,
        health_check_interval=30,
        # One retry for a pooled connection that was closed; no retry after a time-out.
        retry=Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,)),
    )


def client() -> redis.Redis:
    """The client of this process; thread-safe. Values are bytes."""
    return _client_of(settings.REDIS_URL, _TIMEOUT_S)


@contextmanager
def guarded() -> Iterator[redis.Redis]:
    """The client with the time-out of workers (2 s); failures are raised as RedisDown."""
    with _raising_redis_down():
        yield client()


@contextmanager
def quick() -> Iterator[redis.Redis]:
    """The client with a short time-out; failures are raised as RedisDown.

    For _BACKOFF_S after a failure it does not ask Redis, but fails at once.
    """
    url = settings.REDIS_URL
    if time.monotonic() < _retry_at.get(url, 0.0):
        raise RedisDown("Redis did not answer a moment ago")
    try:
        with _raising_redis_down():
            yield _client_of(url, _QUICK_TIMEOUT_S)
    except RedisFull:
        raise  # a full Redis answers without delay
    except RedisDown:
        _retry_at[url] = time.monotonic() + _BACKOFF_S
        raise


def stream_entries(reply: object) -> list[StreamEntry]:
    """The typed reply of XRANGE or XREVRANGE."""
    return cast(list[StreamEntry], reply)


def check() -> None:
    """Raises RedisDown within half a second if Redis does not answer now."""
    reset_backoff()
    with quick() as quick_client:
        quick_client.ping()


def reset_backoff() -> None:
    """Let `quick` try again at once after a failure."""
    _retry_at.clear()


@contextmanager
def _raising_redis_down() -> Iterator[None]:
    try:
        yield
    except (redis.ConnectionError, redis.TimeoutError) as error:
        raise RedisDown(f"Redis cannot be reached: {error}") from error
    except redis.ResponseError as error:
        # The error's code is in its text or, for codes known to the library, in `status_code`.
        message = f"{getattr(error, 'status_code', '')} {error}"
        if "OOM " in message:
            raise RedisFull(f"Redis is full: {error}") from error
        if any(word in message for word in _REFUSALS):
            raise RedisDown(f"Redis refuses work: {error}") from error
        raise
