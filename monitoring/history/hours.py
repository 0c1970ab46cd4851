"""Hours as in folder names: YYYYMMDDHH in UTC, sortable as text. Pure."""

from datetime import UTC, datetime

HOUR_MS = 3_600_000
_FORMAT = "%Y%m%d%H"


def hour_of(at_ms: int) -> str:
    """The hour that contains a time."""
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime(_FORMAT)


def start_ms(hour: str) -> int:
    """The start of an hour. Raises ValueError if `hour` is not valid."""
    return int(datetime.strptime(hour, _FORMAT).replace(tzinfo=UTC).timestamp() * 1000)


def end_ms(hour: str) -> int:
    """The start of the next hour."""
    return start_ms(hour) + HOUR_MS
