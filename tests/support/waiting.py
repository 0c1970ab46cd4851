"""Waiting for what other processes bring about, with a deadline."""

import time
from collections.abc import Callable
from typing import Any

WAIT_S = 30


def wait_until(
    condition: Callable[[], Any], what: str = "it came to pass", deadline_s: float = WAIT_S
) -> Any:
    """The condition's first true value. Raises AssertionError when the time is up."""
    deadline = time.monotonic() + deadline_s
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f"waited {deadline_s} s in vain until {what}")
