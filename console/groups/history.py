"""The chart of a group's lag: from the history, and from the live window for newer ticks.

A line has at most POINTS_MAX points. Each point is the maximum of several ticks, so that peaks are
kept. The line is interrupted where no sample exists, and where the sum is incomplete, since that
would look as if the group had caught up.

A page that stands open asks for what is newer than its last point (`newer_points`), which is in the
live window as a rule: the stored history is not read again for it.
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
from monitoring.lag.tables import rows_named, tick_totals
from monitoring.redis_client import StoreDown
from monitoring.ticks import tick_stream

POINTS_MAX = 480
SERIES_MAX = 8
TOPICS_MAX = 100  # of a group whose chart is updated incrementally
RANGES_MS = {"15m": 15 * 60_000, "1h": 3_600_000, "6h": 6 * 3_600_000, "24h": 24 * 3_600_000}
DEFAULT_RANGE = "1h"
_COLUMNS = ["tick", "topic", "partition", "committed_offset", "log_end_offset", "lag"]

REACH_TICKS = 3  # at least one of them is there, where the live window goes back so far
NEWER_MAX_MS = 10 * 60_000  # of the live window: what is older is asked for as a whole

Sums = dict[str, dict[int, int | None]]  # topic → tick → lag; None = a part of it is not known


def lag_chart(slug: str, group: str, rights: Rights, range_ms: int, now_ms: int) -> dict[str, Any]:
    """The chart description (static/app/chart.js). Raises OSError if the history is unavailable."""
    if not rights.may("group.view", group):
        return chart({}, 0, 0, 1)
    from_ms = now_ms - range_ms
    stored_ms = flushed_until_ms(current(), slug)
    stored = read(slug, "groups", from_ms, now_ms, _COLUMNS, group=group)
    sums = _sums([stored], rights)
    interval = tick_stream.interval_ms()
    for topic, ticks in _sums(_live(slug, group, stored_ms, from_ms, interval), rights).items():
        sums.setdefault(topic, {}).update(ticks)
    return chart(sums, from_ms // interval, now_ms // interval, interval)


def newer_points(
    slug: str, group: str, rights: Rights, range_ms: int, now_ms: int, since_ms: int
) -> dict[str, Any] | None:
    """The points of the chart from `since_ms` on: first the sum, then topics.

    None if the whole chart must be loaded again: `since_ms` is before the live window, or a topic
    has no known lag since then, so that only older data shows whether it exists.
    """
    interval = tick_stream.interval_ms()
    stretch = _stretch(range_ms // interval + 1)
    first_tick, last_tick = since_ms // interval // stretch * stretch, now_ms // interval
    is_near = now_ms - NEWER_MAX_MS <= since_ms <= now_ms
    if not is_near or not rights.may("group.view", group):
        return None
    tables = _live_since(slug, group, first_tick, interval)
    sums = _sums(tables or [], rights)
    if tables is None or len(sums) > TOPICS_MAX or any(_most(t) < 0 for t in sums.values()):
        return None
    slots = range(first_tick // stretch, last_tick // stretch + 1)
    lines = [("", _total(sums)), *sorted(sums.items())]
    return {
        "from_ms": (now_ms - range_ms) // interval // stretch * stretch * interval,
        "step_ms": stretch * interval,
        "series": _series(lines, slots, stretch, interval),
    }


def _live_since(slug: str, group: str, first_tick: int, interval: int) -> list[pa.Table] | None:
    """The group's rows per tick, from the first one; None if the live window has not all of
    them."""
    tables, reaches = [], False
    try:
        since_ms = (first_tick - REACH_TICKS) * interval
        for tick in tick_stream.recent_groups(slug, since_ms, ["group", *_COLUMNS]):
            reaches = reaches or tick.tick <= first_tick
            if tick.tick >= first_tick:
                tables.append(rows_named(tick.groups, "group", group).select(_COLUMNS))
    except StoreDown:
        return None
    return tables if reaches else None


def _live(slug: str, group: str, stored_ms: int, from_ms: int, interval: int) -> Iterable[pa.Table]:
    """The rows of the ticks after `stored_ms`.

    None if Redis is down; the chart then ends where the history does.
    """
    try:
        # `at_ms` is up to two intervals after the start of the tick.
        since_ms = max(from_ms, stored_ms - 2 * interval)
        for tick in tick_stream.recent_groups(slug, since_ms, ["group", *_COLUMNS]):
            if tick.at_ms > stored_ms:
                yield rows_named(tick.groups, "group", group).select(_COLUMNS)
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
    """One line for the group, and one per topic if there are several. Pure."""
    stretch = _stretch(last_tick - first_tick + 1)
    slots = range(first_tick // stretch, last_tick // stretch + 1)
    # A topic of which nothing is known all the time does not exist any more: it hides no other.
    sums = {topic: ticks for topic, ticks in sums.items() if _most(ticks) >= 0}
    total = _total(sums)
    lines = [(_("all topics") if len(sums) > 1 else next(iter(sums), ""), total)]
    if len(sums) > 1:
        most = sorted(sums, key=lambda topic: _most(sums[topic]), reverse=True)
        lines += [(topic, sums[topic]) for topic in most[: SERIES_MAX - 1]]
    series = _series(lines, slots, stretch, interval) if total else []
    return {
        "kind": "line",
        "unit": _("messages"),
        "step_ms": stretch * interval,
        "series": series,
        "series_max": SERIES_MAX,
    }


def _stretch(ticks: int) -> int:
    """The number of ticks per point."""
    return max(1, -(-ticks // POINTS_MAX))


def _total(sums: Sums) -> dict[int, int | None]:
    total: dict[int, int | None] = defaultdict(int)
    for ticks in sums.values():
        for tick, lag in ticks.items():
            before = total[tick]
            total[tick] = None if lag is None or before is None else before + lag
    return total


def _series(
    lines: Iterable[tuple[str, dict[int, int | None]]], slots: range, stretch: int, interval: int
) -> list[dict[str, Any]]:
    """The lines of the chart: per slot the maximum of its ticks."""
    x = [slot * stretch * interval for slot in slots]
    series = []
    for name, ticks in lines:
        peaks: dict[int, int] = {}
        for tick, lag in ticks.items():
            slot = tick // stretch
            if lag is not None:
                peaks[slot] = max(peaks.get(slot, 0), lag)
        series.append({"name": name, "x": x, "y": [peaks.get(slot) for slot in slots]})
    return series


def _most(ticks: dict[int, int | None]) -> int:
    """The maximum lag of a topic; −1 if unknown."""
    return max((lag for lag in ticks.values() if lag is not None), default=-1)
