"""Formats points in time and durations: one format for each kind, and "—" for unknown values."""

from datetime import UTC, datetime

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from console.ui.numbers import UNKNOWN
from monitoring.gateway.wire.limits import TIME_MS_MAX


def age(at_ms: int | None, now_ms: int) -> str:
    """A time relative to now, in one unit: "4 s ago". A time in the future is "now"."""
    if at_ms is None:
        return UNKNOWN
    seconds = (now_ms - at_ms) // 1000
    return _("now") if seconds <= 0 else _("%(time)s ago") % {"time": duration(seconds)}


def duration(seconds: float | None) -> str:
    if seconds is None:
        return UNKNOWN
    seconds = int(seconds)
    if seconds < 120:
        return _("%(n)d s") % {"n": seconds}
    if seconds < 2 * 3600:
        return _("%(n)d min") % {"n": seconds // 60}
    if seconds < 48 * 3600:
        return _("%(n)d h") % {"n": seconds // 3600}
    days = seconds // 86400
    return ngettext("%(n)d day", "%(n)d days", days) % {"n": days}


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
