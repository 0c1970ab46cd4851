"""Makes one log line when something becomes unreachable and one when it is back. Pure."""


class OutageLog:
    """The outages of one activity or service; `name` is the beginning of its log lines."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._down_since_ms: int | None = None

    def report_down(self, reason: str, now_ms: int) -> str | None:
        """The line to log; None if this outage was logged already."""
        if self._down_since_ms is not None:
            return None
        self._down_since_ms = now_ms
        return f"{self._name}: {reason}; retrying"

    def report_up(self, now_ms: int) -> str | None:
        """The line to log; None if there was no outage."""
        if self._down_since_ms is None:
            return None
        down_s = (now_ms - self._down_since_ms) / 1000
        self._down_since_ms = None
        return f"{self._name}: back after {down_s:.0f} s"
