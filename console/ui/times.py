"""Formats points in time and durations: one format for each kind, and "—" for unknown values."""

from datetime import UTC, datetime

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from console.ui.numbers import UNKNOWN
from monitoring.gateway.wire.response_limits import TIME_MS_MAX


def age(at_ms: int | None, now_ms: int) -> str:
    """A time relative to now, in one unit: "4 s ago". A time in the future is "now"."""
    if at_ms is None:
        return UNKNOWN
    seconds = (now_ms - at_ms) // 1000
    return _("now") if seconds <= 0 else _("%(time)s ago") % {"time": duration(seconds)}


def duration(seconds: float | None) -> str:
    """In one unit, rounded down: 200 → 3 min."""
    if seconds is None:
        return UNKNOWN
    step_s = duration_step_s(seconds)
    n = int(seconds) // step_s
    if step_s == 1:
        return _("%(n)d s") % {"n": n}
    if step_s == 60:
        return _("%(n)d min") % {"n": n}
    if step_s == 3600:
        return _("%(n)d h") % {"n": n}
    return ngettext("%(n)d day", "%(n)d days", n) % {"n": n}


def duration_step_s(seconds: float) -> int:
    """The seconds of the unit in which `duration` writes these seconds."""
    if seconds < 120:
        return 1
    if seconds < 2 * 3600:
        return 60
    return 3600 if seconds < 48 * 3600 else 86_400


def moment(at_ms: int | None) -> str:
    """A point in time in UTC, to the second.

    Producers choose the timestamps of records: one that no calendar has is unknown.
    """
    if at_ms is None or not 0 <= at_ms <= TIME_MS_MAX:
        return UNKNOWN
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def clock(at_ms: int | None, now_ms: int | None = None) -> str:
    """A time within the last day as hh:mm:ss, an older one with its date; in UTC."""
    if at_ms is None:
        return UNKNOWN
    if now_ms is not None and now_ms - at_ms > 86_400_000:
        return moment(at_ms)
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%H:%M:%S UTC")
