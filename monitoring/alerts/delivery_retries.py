"""Which HTTP statuses of a webhook are tried again, and how long after each failed attempt. Pure.

webhook.py decides about errors without a status, such as time-outs.
"""

WAITS_S = (10, 30, 120, 600, 1800, 3600)
_RETRIABLE = {408, 425, 429}  # besides the errors of servers


def wait_s(attempts: int) -> int | None:
    """Seconds until the next attempt after `attempts` failed ones; None = give up."""
    return WAITS_S[attempts - 1] if 1 <= attempts <= len(WAITS_S) else None


def is_retriable(status: int) -> bool:
    """Whether a delivery that got this HTTP status is tried again."""
    return status >= 500 or status in _RETRIABLE
