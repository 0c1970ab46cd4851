"""How long the parts of a sample may take: shares of the tick's interval, or seconds. Pure.

The interval is the setting AERIE_TICK_SECONDS (console/settings.py).
Other requests to clusters have the times of monitoring/gateway/request_timeouts.py.
"""

_STEP_SHARE, _STEP_S_MIN, _STEP_S_MAX = 0.25, 0.5, 3.0
_READ_SHARE = 0.8  # the rest is for the tables, Redis and the alert rules
NOTIFY_S = 2.0  # to send the tick's number to the web processes
CLOSE_S = 2.0  # to close the readers of removed clusters


def step_s(interval_ms: int) -> float:
    """The time for one step of a read, for example to read the end offsets."""
    return min(max(interval_ms / 1000 * _STEP_SHARE, _STEP_S_MIN), _STEP_S_MAX)


def read_s(interval_ms: int) -> float:
    """The time to read a cluster with all steps."""
    return interval_ms / 1000 * _READ_SHARE
