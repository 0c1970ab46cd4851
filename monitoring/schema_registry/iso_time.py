"""Moments of ISO 8601 as seconds since 1970. Pure."""

from collections.abc import Sequence
from datetime import datetime, timedelta, timezone

_EPOCH = datetime(1970, 1, 1)


def epoch_seconds(parts: Sequence[int], zone: str | None) -> int:
    """`parts`: year, month, day, hour, minute, second. `zone`: Z, or an offset as +01:00 or +0100;
    without one the moment is of UTC. Raises ValueError and OverflowError."""
    year, month, day, hour, minute, second = parts
    moment = datetime(year, month, day, hour, minute, second) - _offset(zone)
    return (moment - _EPOCH) // timedelta(seconds=1)


def _offset(zone: str | None) -> timedelta:
    if not zone or zone == "Z":
        return timedelta()
    minutes = int(zone[1:3]) * 60 + int(zone[-2:])
    timezone(timedelta(minutes=minutes))  # ValueError: a day or more
    return timedelta(minutes=-minutes if zone[0] == "-" else minutes)
