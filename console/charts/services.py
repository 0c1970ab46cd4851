"""Makes chart descriptions (static/app/chart.js) from the history.

    {"kind": "line", "unit": text, "step_ms": int, "from_ms": int, "to_ms": int,
     "series": [{"name", "x": [ms], "y": [number | null], "low"?: [...], "high"?: [...],
                 "is_earlier"?: true}],
     "gaps": [{"from_ms", "to_ms", "text"}]}

A single line has the lowest and the highest value of each point around it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from django.utils.translation import gettext as _

from console.accounts.rights import Rights
from console.charts import measures
from console.charts.query import Query
from console.live import snapshot_cache
from console.ui.texts import sentence
from monitoring.history import points, series
from monitoring.history.points import Points
from monitoring.history.series import COMPARE_MS, Gap, Range, Subject
from monitoring.history.table_specs import GROUP_TOPICS
from monitoring.reasons import loads
from monitoring.scope import ANY

POINTS_MAX = 600
TOPICS_MAX = 7  # lines of a group's topics, besides the group's own
TOPICS_SUMMED_MAX = 50  # of a group of which the user sees a part; each is a query
_MS = 1000.0
Chart = dict[str, Any]


def may_see(rights: Rights, query: Query) -> bool:
    """Whether the user may see the chart. Sums over a whole cluster are for those who see all of
    its topics and groups."""
    if query.of == "topic":
        return rights.may("topic.view", query.topic)
    if query.of == "group":
        return rights.may("group.view", query.group)
    scope = rights.scope
    return rights.may("cluster.view") and (
        query.of == "broker" or (ANY in scope.topics and ANY in scope.groups)
    )


def chart(slug: str, rights: Rights, query: Query, now_ms: int) -> Chart:
    """The chart of a query that `may_see` allows. Raises OSError if the history is unavailable."""
    over = Range.until(now_ms, query.range_ms, POINTS_MAX)
    read = _group_lines if query.of == "group" else _lines
    lines, gaps = read(slug, rights, query, over)
    if query.compare:
        by_ms = COMPARE_MS[query.compare]
        earlier, _gaps = read(slug, rights, query, over.earlier(by_ms))
        lines += [
            _as_earlier(line, query.compare, by_ms) for line in earlier[: len(query.measures)]
        ]
    if len(lines) > 1:
        lines = [{n: v for n, v in line.items() if n not in ("low", "high")} for line in lines]
    return {
        "kind": "line",
        "unit": measures.units()[query.show],
        "step_ms": over.step_ms,
        "from_ms": over.from_ms,
        "to_ms": max([over.to_ms, *(line["x"][-1] + 1 for line in lines if line["x"])]),
        "series": lines,
        "gaps": [_gap(gap) for gap in gaps],
    }


def _lines(
    slug: str, rights: Rights, query: Query, over: Range
) -> tuple[list[Chart], tuple[Gap, ...]]:
    found = series.read(slug, query.subject, query.measures, over)
    factor = 1 / _MS if query.show == "cpu" else 1.0
    names = measures.line_names()
    lines = [_line(names[name], points, factor) for name, points in found.measures.items()]
    return [line for line in lines if _is_known(line)], found.gaps


def _group_lines(
    slug: str, rights: Rights, query: Query, over: Range
) -> tuple[list[Chart], tuple[Gap, ...]]:
    """The group's line and those of the topics that are most behind. If the user does not see all
    of its topics, the group's line is the sum over those that the user sees."""
    [measure] = query.measures
    shown = snapshot_cache.snapshot(slug, rights)
    rows = shown.topics_of_group(query.group, 1000) if shown and shown.group(query.group) else []
    most = sorted(rows, key=lambda row: -(row.lag.value or 0))
    names = [row.topic for row in most]
    if _sees_whole_group(slug, rights, query.group, over):
        found = series.read(slug, Subject.group(query.group), [measure], over)
        name = _("all topics") if len(names) > 1 else (names[0] if names else query.group)
        whole, gaps = found.measures[measure], found.gaps
    else:
        whole, gaps, name = None, (), _("the topics that you see")
        stored = series.names(slug, GROUP_TOPICS, "topic", {"group": query.group}, over)
        names += [topic for topic in stored if topic not in names]
        names = [topic for topic in names if rights.may("topic.view", topic)]
    by_topic: dict[str, Points] = {}
    for topic in names[: TOPICS_SUMMED_MAX if whole is None else TOPICS_MAX]:
        found = series.read(slug, Subject.group(query.group, topic), [measure], over)
        by_topic[topic], gaps = found.measures[measure], found.gaps
    if whole is None and 1 < len(names) <= TOPICS_SUMMED_MAX:
        whole = points.total(list(by_topic.values()))
    lines = [_line(name, whole)] if whole is not None else []
    if len(names) > 1 or whole is None:
        lines += [_line(topic, by_topic[topic]) for topic in names[:TOPICS_MAX]]
    return [line for line in lines if _is_known(line)], gaps


def _sees_whole_group(slug: str, rights: Rights, group: str, over: Range) -> bool:
    scope = rights.scope
    if ANY in scope.topics and not scope.hidden_topics:
        return True
    shown = snapshot_cache.snapshot(slug, rights)
    if shown and shown.hides_topics_of(group):
        return False
    topics = series.names(slug, GROUP_TOPICS, "topic", {"group": group}, over)
    return all(rights.may("topic.view", topic) for topic in topics)


def _line(name: str, points: Points, factor: float = 1.0) -> Chart:
    return {
        "name": name,
        "x": points.at_ms.tolist(),
        "y": _numbers(points.mean * factor),
        "low": _numbers(points.low * factor),
        "high": _numbers(points.high * factor),
    }


def _as_earlier(line: Chart, compare: str, by_ms: int) -> Chart:
    names = {"yesterday": _("%(name)s, a day before"), "week": _("%(name)s, a week before")}
    return {
        "name": names[compare] % {"name": line["name"]},
        "x": [at_ms + by_ms for at_ms in line["x"]],
        "y": line["y"],
        "is_earlier": True,
    }


def _numbers(values: np.ndarray) -> list[float | None]:
    """For JSON: NaN as null, and no more digits than a chart shows."""
    return [None if math.isnan(value) else float(f"{value:.6g}") for value in values.tolist()]


def _is_known(line: Chart) -> bool:
    return any(y is not None for y in line["y"])


def _gap(gap: Gap) -> Chart:
    return {"from_ms": gap.from_ms, "to_ms": gap.to_ms, "text": sentence(loads(gap.reason))}
