"""The waiting times between attempts of a failed delivery. Pure."""

WAITS_S = (10, 30, 120, 600, 1800, 3600)


def wait_s(attempts: int) -> int | None:
    """Seconds until the next attempt after `attempts` failed ones; None = give up."""
    return WAITS_S[attempts - 1] if 1 <= attempts <= len(WAITS_S) else None
