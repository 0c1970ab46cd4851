"""Says once that something is away and once that it is back. Pure."""


class Health:
    """The state of one thing that can be away."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._away_since_ms: int | None = None

    def away(self, reason: str, now_ms: int) -> str | None:
        """The line to log, the first time only."""
        if self._away_since_ms is not None:
            return None
        self._away_since_ms = now_ms
        return f"{self._what}: {reason}; trying on"

    def back(self, now_ms: int) -> str | None:
        """The line to log, if it had been away."""
        if self._away_since_ms is None:
            return None
        away_s = (now_ms - self._away_since_ms) / 1000
        self._away_since_ms = None
        return f"{self._what}: back after {away_s:.0f} s"
