"""The lock of a cluster's levels in Redis: its holder alone replaces their files or deletes spans.

The flush replaces raw files without it, which jobs may read meanwhile: a replaced file stays for a
while. The lock is short and renewed while it is held, so it is free soon after its holder was
killed. If a holder loses it and runs on, the manifest refuses the second process (workspace.py).
"""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from monitoring import redis_client
from monitoring.redis_lock import renew, try_lock

_LOCK_MS, _RENEW_S = 20_000, 4.0
SILENT_MS = 10_000  # a holder that has not renewed it for so long may have ended
_POLL_S = 1.0
log = logging.getLogger(__name__)


@contextmanager
def held(slug: str, wait_s: float = 0.0) -> Iterator[bool]:
    """Take the lock; yields False if another process still has it after `wait_s`.

    Raises RedisDown.
    """
    key, holder = _key(slug), uuid.uuid4().hex
    deadline_s = time.monotonic() + wait_s
    while True:
        with try_lock(key, holder, _LOCK_MS) as other:
            if other is None:
                with _renewed(key, holder):
                    yield True
                return
        if time.monotonic() >= deadline_s:
            yield False
            return
        time.sleep(_POLL_S)


def silent_ms(slug: str) -> int | None:
    """How long ago the holder took or renewed the lock; None = nobody has it. Raises RedisDown."""
    with redis_client.quick() as client:
        left_ms = client.pttl(_key(slug))
    return None if left_ms < 0 else max(_LOCK_MS - left_ms, 0)


def _key(slug: str) -> str:
    return f"aerie:pipeline:{slug}"


@contextmanager
def _renewed(key: str, holder: str) -> Iterator[None]:
    """Renew the lock inside."""
    ended = threading.Event()
    thread = threading.Thread(target=_renew, args=(key, holder, ended.wait), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _renew(key: str, holder: str, wait: Callable[[float], bool]) -> None:
    while not wait(_RENEW_S):
        try:
            renew(key, holder, _LOCK_MS)
        except redis_client.RedisDown as error:
            log.warning("the lock %s was not renewed: %s", key, error)
