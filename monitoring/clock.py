"""The wall clock. Pure code gets the time as a parameter `now_ms` instead."""

import time


def now_ms() -> int:
    """Milliseconds since 1970, UTC."""
    return time.time_ns() // 1_000_000
