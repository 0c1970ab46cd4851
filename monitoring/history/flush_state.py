"""Since when the new ticks of a cluster are not written to the history, and why. In Redis.

A flush stores its start, unless an earlier one is stored, and deletes it when it has succeeded. So
a flush that hangs is known as well as one that fails.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

from monitoring import redis_client, redis_keys
from monitoring.error_reason import Reason, dumps, loads

LATE_MS = 3 * 60_000  # after so long three flushes have failed, or one hangs
_SINCE, _WHY = b"since_ms", b"why"


@dataclass(frozen=True, slots=True)
class LateFlush:
    """A cluster whose new ticks are not written. `why` is "" while the flush hangs."""

    slug: str
    since_ms: int
    why: str


def note_begun(slug: str, at_ms: int) -> None:
    """Raises RedisDown."""
    with redis_client.guarded() as client:
        client.hsetnx(redis_keys.flush(slug), _SINCE, at_ms)


def note_failed(slug: str, error: Exception) -> None:
    """Raises RedisDown."""
    with redis_client.guarded() as client:
        client.hset(redis_keys.flush(slug), _WHY, dumps(reason_of(error)))


def note_done(slug: str) -> None:
    """Raises RedisDown."""
    with redis_client.guarded() as client:
        client.delete(redis_keys.flush(slug))


def late(slugs: Iterable[str], at_ms: int) -> list[LateFlush]:
    """Those of the clusters whose ticks are not written for LATE_MS. Raises RedisDown."""
    listed = list(slugs)
    with redis_client.quick() as client:
        pipe = client.pipeline(transaction=False)
        for slug in listed:
            pipe.hgetall(redis_keys.flush(slug))
        found = cast(list[dict[bytes, bytes]], pipe.execute())
    return [
        LateFlush(slug, int(fields[_SINCE]), loads(fields.get(_WHY, b"").decode()))
        for slug, fields in zip(listed, found, strict=True)
        if _SINCE in fields and at_ms - int(fields[_SINCE]) >= LATE_MS
    ]


def reason_of(error: Exception) -> Reason:
    """Why a file of the history could not be read or written."""
    why = (str(error).splitlines() or [type(error).__name__])[0][:300]
    is_full = "No space left" in str(error) or getattr(error, "errno", None) == errno.ENOSPC
    return Reason("disk_full" if is_full else "history_unreadable", why=why)
