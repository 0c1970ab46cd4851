"""The time of day, for adapters; cores are given it as `now_ms`."""

import time


def now_ms() -> int:
    """Milliseconds since 1970, UTC."""
    return time.time_ns() // 1_000_000
