"""The names of the Redis keys of a cluster."""


def ticks(slug: str) -> str:
    """The stream of its ticks (ticks/tick_stream.py)."""
    return f"aerie:{slug}:ticks"


def last_ok(slug: str) -> str:
    """The id of the newest tick that is not a gap."""
    return f"aerie:{slug}:last_ok"


def skipped(slug: str) -> str:
    """Tick number → reason why it was not sampled."""
    return f"aerie:{slug}:skipped"


def sampling(slug: str) -> str:
    """The lock of the worker that samples it."""
    return f"aerie:{slug}:sampling"


def pending(slug: str) -> str:
    """The pending subjects of alert rules (alerts/stored_pending_subjects.py)."""
    return f"aerie:{slug}:alerts:pending"


def request_readings(slug: str) -> str:
    """Broker id → the last readings of its request metrics (request_metrics/stored_readings.py)."""
    return f"aerie:{slug}:requests"


def flush(slug: str) -> str:
    """Since when its ticks are not written to the history (history/flush_state.py)."""
    return f"aerie:{slug}:flush"


def all_but_lock(slug: str) -> tuple[str, ...]:
    """All keys of the cluster except the lock."""
    kept = ticks(slug), last_ok(slug), skipped(slug), pending(slug), request_readings(slug)
    return *kept, flush(slug)
