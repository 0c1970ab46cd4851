"""Limits how often a user can make the server connect to addresses that users entered: clusters,
webhooks. (Attempts to sign in: sign_in_lockout.py.)"""

import logging
from typing import Any

from django.core.cache import cache

PER_MINUTE_MAX = 10
_WINDOW_S = 60

log = logging.getLogger(__name__)


def allows(action: str, user: Any, per_minute_max: int = PER_MINUTE_MAX) -> bool:
    """Count one `action`; False above the limit, or if the cache does not answer."""
    key = f"throttle:{action}:{user.pk}"
    try:
        cache.add(key, 0, _WINDOW_S)
        return bool(cache.incr(key) <= per_minute_max)
    except ValueError:  # the minute ended meanwhile
        return True
    except Exception:
        log.warning("%s is refused: the cache, which counts them, does not answer", action)
        return False
