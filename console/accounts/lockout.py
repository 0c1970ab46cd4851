"""Slows down guessing of passwords: after a few failures an account and an address must wait.

Counts live in the cache, shared by all web processes, and expire by themselves. An account is
locked after MAX_PER_ACCOUNT failures from one address, so that a stranger elsewhere cannot lock
its owner out; an address after MAX_PER_ADDRESS over all accounts. Behind a proxy the address is
the one that the proxy names (AERIE_ALLOWED_HOSTS in docs/operating.md). Where the cache cannot be
reached, signing in still works (the passwords are what protects) and a warning is logged.
"""

import hashlib
import logging

from django.core.cache import cache

MAX_PER_ACCOUNT = 5
MAX_PER_ADDRESS = 30
WAIT_SECONDS = 300

log = logging.getLogger(__name__)


def _keys(username: str, address: str) -> dict[str, int]:
    """Cache key → how many failures it stands. Names are hashed: any text, bounded length."""
    account = hashlib.sha256(f"{address}\0{username.lower()}".encode()).hexdigest()[:32]
    origin = hashlib.sha256(address.encode()).hexdigest()[:32]
    return {f"signin:a:{account}": MAX_PER_ACCOUNT, f"signin:o:{origin}": MAX_PER_ADDRESS}


def is_locked(username: str, address: str) -> bool:
    keys = _keys(username, address)
    try:
        counts = cache.get_many(keys)
    except Exception:
        log.warning("sign-in failures cannot be counted: the cache does not answer")
        return False
    return any(counts.get(key, 0) >= most for key, most in keys.items())


def record_failure(username: str, address: str) -> None:
    try:
        for key in _keys(username, address):
            cache.add(key, 0, WAIT_SECONDS)
            cache.incr(key)
            cache.touch(key, WAIT_SECONDS)
    except Exception:
        log.warning("a sign-in failure was not counted: the cache does not answer")


def forget(username: str, address: str) -> None:
    """After a success: the account's count starts afresh, the address's does not."""
    try:
        cache.delete(next(iter(_keys(username, address))))
    except Exception:
        log.warning("sign-in failures were not reset: the cache does not answer")
