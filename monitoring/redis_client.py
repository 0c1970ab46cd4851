"""The connection to Redis, one pool a process and haste, and the one error for its absence.

Workers ask with `guarded`, which waits up to 2 s. Pages ask with `quick`, which waits 0.4 s and,
after a failure, does not ask again for some seconds: a page that reads several things of a Redis
that hangs waits once. Either pool reconnects by itself when Redis is back.
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
_NOT_ASKED_S = 3.0
_REFUSALS = ("LOADING", "MISCONF", "READONLY", "MASTERDOWN")
StreamEntry = tuple[bytes, dict[bytes, bytes]]  # its id, its fields
_not_before: dict[str, float] = {}  # URL → when `quick` asks again


class StoreDown(Exception):
    """Redis does not answer. Always worth another try; nothing was changed for certain."""

    retriable = True


class StoreFull(StoreDown):
    """Redis answers and refuses all writes: its `maxmemory` is used up. Deleting still works."""


@lru_cache(maxsize=8)
def _client_of(url: str, timeout_s: float) -> redis.Redis:
    return redis.Redis.from_url(
        url,
        socket_timeout=timeout_s,
        socket_connect_timeout=timeout_s,
        health_check_interval=30,
        # Once more where a kept connection was closed; what times out is not waited for again.
        retry=Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,)),
    )


def client() -> redis.Redis:
    """The shared client of this process (threads may share it). Values are bytes."""
    return _client_of(settings.REDIS_URL, _TIMEOUT_S)


@contextmanager
def guarded() -> Iterator[redis.Redis]:
    """The client, with every failure to reach Redis raised as StoreDown."""
    with _translated():
        yield client()


@contextmanager
def quick() -> Iterator[redis.Redis]:
    """As `guarded`, for a person who waits: short limits, and none at all soon after a failure."""
    url = settings.REDIS_URL
    if time.monotonic() < _not_before.get(url, 0.0):
        raise StoreDown("Redis did not answer a moment ago")
    try:
        with _translated():
            yield _client_of(url, _QUICK_TIMEOUT_S)
    except StoreFull:
        raise  # it answers at once
    except StoreDown:
        _not_before[url] = time.monotonic() + _NOT_ASKED_S
        raise


def stream_entries(reply: object) -> list[StreamEntry]:
    """What XRANGE or XREVRANGE returned: our clients decode nothing, and no entry is left out."""
    return cast(list[StreamEntry], reply)


def check() -> None:
    """Raises StoreDown within half a second where Redis does not answer now."""
    ask_again()
    with quick() as redis_now:
        redis_now.ping()


def ask_again() -> None:
    """Lets `quick` ask at once, whatever failed before."""
    _not_before.clear()


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (redis.ConnectionError, redis.TimeoutError) as error:
        raise StoreDown(f"Redis cannot be reached: {error}") from error
    except redis.ResponseError as error:
        # The first word of an error is in its text or, if the library knows it, beside it.
        said = f"{getattr(error, 'status_code', '')} {error}"
        if "OOM " in said:
            raise StoreFull(f"Redis is full: {error}") from error
        if any(word in said for word in _REFUSALS):
            raise StoreDown(f"Redis refuses work: {error}") from error
        raise
