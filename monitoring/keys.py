"""Under which names Redis keeps what is known of a cluster."""


def ticks(slug: str) -> str:
    """The stream of its samples (sampling/encode.py)."""
    return f"aerie:{slug}:ticks"


def last_ok(slug: str) -> str:
    """The id of the newest sample that is not a gap."""
    return f"aerie:{slug}:last_ok"


def skipped(slug: str) -> str:
    """Why ticks were not sampled, by number."""
    return f"aerie:{slug}:skipped"


def sampling(slug: str) -> str:
    """The lock of whoever samples it."""
    return f"aerie:{slug}:sampling"


def pending(slug: str) -> str:
    """Subjects of alert rules that are over a limit but not long enough yet (alerts/pending.py)."""
    return f"aerie:{slug}:alerts:pending"


def kept(slug: str) -> tuple[str, ...]:
    """All that outlives a tick."""
    return ticks(slug), last_ok(slug), skipped(slug), pending(slug)
