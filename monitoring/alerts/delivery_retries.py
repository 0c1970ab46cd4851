"""Which failed deliveries are tried again, and how long after each attempt. Pure.

post_webhook.py makes the attempt.
"""

import httpx

from monitoring.egress.url_checks import EgressUnresolved

WAITS_S = (10, 30, 120, 600, 1800, 3600)
_RETRIABLE = {408, 425, 429}  # besides the errors of servers
_RETRIABLE_ERRORS = (TimeoutError, httpx.HTTPError, EgressUnresolved)


def wait_s(attempts: int) -> int | None:
    """Seconds until the next attempt after `attempts` failed ones; None = give up."""
    return WAITS_S[attempts - 1] if 1 <= attempts <= len(WAITS_S) else None


def is_retriable(status: int) -> bool:
    """Whether a delivery that got this HTTP status is tried again."""
    return status >= 500 or status in _RETRIABLE


def is_retriable_error(error: Exception) -> bool:
    """Whether a delivery that got no HTTP status is tried again: after a time-out, if the host's
    name cannot be looked up, or if the connection fails; not if the URL is refused or invalid."""
    return isinstance(error, _RETRIABLE_ERRORS)
