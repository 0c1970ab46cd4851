"""The lag of a group over time: from the stored history, and from the live window for what is not
stored yet.

A chart has at most POINTS_MAX points a line; each is the most lag within its stretch of ticks, so
that a peak is never averaged away. A stretch without a sample is a gap in the line, and so is one
in which a part of the sum was not known: it would look like a group that caught up.
"""

from collections import defaultdict
from collections.abc import Iterable
from itertools import chain
from typing import Any

import pyarrow as pa
from django.utils.translation import gettext as _

from console.accounts.rights import Rights
from monitoring.history.reader import read
from monitoring.history.root import current
from monitoring.history.writer import flushed_until_ms
from monitoring.lag.tables import of_name, tick_totals
from monitoring.redis_client import StoreDown
from monitoring.ticks import tick_stream

POINTS_MAX = 480
SERIES_MAX = 8
RANGES_MS = {"15m": 15 * 60_000, "1h": 3_600_000, "6h": 6 * 3_600_000, "24h": 24 * 3_600_000}
DEFAULT_RANGE = "1h"
_COLUMNS = ["tick", "topic", "partition", "committed_offset", "log_end_offset", "lag"]

Sums = dict[str, dict[int, int | None]]  # topic → tick → lag; None = a part of it is not known


def lag_chart(slug: str, group: str, rights: Rights, range_ms: int, now_ms: int) -> dict[str, Any]:
    """The spec of the chart (static/app/chart.js). Raises OSError when the history is away."""
    from_ms = now_ms - range_ms
    stored_ms = flushed_until_ms(current(), slug)
    stored = read(slug, "groups", from_ms, now_ms, _COLUMNS, group=group)
    sums = _sums([stored], rights)
    interval = tick_stream.interval_ms()
    for topic, ticks in _sums(_live(slug, group, stored_ms, from_ms, interval), rights).items():
        sums.setdefault(topic, {}).update(ticks)
    return chart(sums, from_ms // interval, now_ms // interval, interval)


def _live(slug: str, group: str, stored_ms: int, from_ms: int, interval: int) -> Iterable[pa.Table]:
    """The rows of the ticks after `stored_ms`, whether this group is in the history or not.

    None when Redis is away: the chart then ends where the history does.
    """
    try:
        # A tick's moment lies up to two intervals after its beginning.
        since_ms = max(from_ms, stored_ms - 2 * interval)
        for tick in tick_stream.recent_groups(slug, since_ms, ["group", *_COLUMNS]):
            if tick.at_ms > stored_ms:
                yield of_name(tick.groups, "group", group).select(_COLUMNS)
    except StoreDown:
        return


def _sums(tables: Iterable[pa.Table], rights: Rights) -> Sums:
    """The lag by topic and tick, of the topics that these rights show; a negative one adds 0."""
    found: Sums = defaultdict(dict)
    shown: dict[str, bool] = {}
    for batch in chain.from_iterable(table.to_batches() for table in tables):
        totals = tick_totals(pa.Table.from_batches([batch]))
        columns = [totals[name].to_pylist() for name in ("topic", "tick", "lag", "end_unknown")]
        for topic, tick, lag, unknown in zip(*columns, strict=True):
            if topic not in shown:
                shown[topic] = rights.may("topic.view", topic)
            if not shown[topic]:
                continue
            if unknown:
                found[topic][tick] = None
            elif lag is not None:
                before = found[topic].get(tick, 0)
                found[topic][tick] = None if before is None else before + lag
    return found


def chart(sums: Sums, first_tick: int, last_tick: int, interval: int) -> dict[str, Any]:
    """One line for the whole group and one for each topic of several. Pure."""
    stretch = max(1, -(-(last_tick - first_tick + 1) // POINTS_MAX))
    slots = range(first_tick // stretch, last_tick // stretch + 1)
    x = [slot * stretch * interval for slot in slots]
    # A topic of which nothing is known all the time does not exist any more: it hides no other.
    sums = {topic: ticks for topic, ticks in sums.items() if _most(ticks) >= 0}
    total: dict[int, int | None] = defaultdict(int)
    for ticks in sums.values():
        for tick, lag in ticks.items():
            before = total[tick]
            total[tick] = None if lag is None or before is None else before + lag
    lines = [(_("all topics") if len(sums) > 1 else next(iter(sums), ""), total)]
    if len(sums) > 1:
        most = sorted(sums, key=lambda topic: _most(sums[topic]), reverse=True)
        lines += [(topic, sums[topic]) for topic in most[: SERIES_MAX - 1]]
    series = []
    for name, ticks in lines:
        peaks: dict[int, int] = {}
        for tick, lag in ticks.items():
            slot = tick // stretch
            if lag is not None:
                peaks[slot] = max(peaks.get(slot, 0), lag)
        series.append({"name": name, "x": x, "y": [peaks.get(slot) for slot in slots]})
    return {"kind": "line", "unit": _("messages"), "series": series if total else []}


def _most(ticks: dict[int, int | None]) -> int:
    """The most lag of a topic; −1 where none is known."""
    return max((lag for lag in ticks.values() if lag is not None), default=-1)
