"""Hours as folders name them: YYYYMMDDHH in UTC, which sort as they follow. Pure."""

from datetime import UTC, datetime

HOUR_MS = 3_600_000
_FORMAT = "%Y%m%d%H"


def hour_of(at_ms: int) -> str:
    """The hour in which a moment lies."""
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime(_FORMAT)


def start_ms(hour: str) -> int:
    """When an hour begins. Raises ValueError for anything that is not an hour."""
    return int(datetime.strptime(hour, _FORMAT).replace(tzinfo=UTC).timestamp() * 1000)


def end_ms(hour: str) -> int:
    """When the next hour begins."""
    return start_ms(hour) + HOUR_MS
