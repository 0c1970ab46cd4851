"""The time ranges of charts and reports, and which of them a page's URL asks for. Pure."""

from collections.abc import Mapping

from django.utils.translation import gettext_lazy as _

from monitoring.history.levels import DAY_MS, HOUR_MS, MINUTE_MS

RANGES_MS = {
    "15m": 15 * MINUTE_MS,
    "1h": HOUR_MS,
    "6h": 6 * HOUR_MS,
    "24h": DAY_MS,
    "7d": 7 * DAY_MS,
    "30d": 30 * DAY_MS,
    "90d": 90 * DAY_MS,
}
RANGE_TITLES = {
    "15m": _("Last 15 minutes"),
    "1h": _("Last hour"),
    "6h": _("Last 6 hours"),
    "24h": _("Last 24 hours"),
    "7d": _("Last 7 days"),
    "30d": _("Last 30 days"),
    "90d": _("Last 90 days"),
}
DEFAULT_RANGE = "1h"

# What a chart is compared with: so much earlier.
COMPARE_MS = {"yesterday": DAY_MS, "week": 7 * DAY_MS}
COMPARE_TITLES = {"yesterday": _("Yesterday"), "week": _("Last week")}


def range_of(params: Mapping[str, str]) -> tuple[str, str]:
    """The range and the comparison that a page's URL asks for; unknown values mean the default."""
    chosen, compare = params.get("range", ""), params.get("compare", "")
    return (
        chosen if chosen in RANGES_MS else DEFAULT_RANGE,
        compare if compare in COMPARE_MS else "",
    )
