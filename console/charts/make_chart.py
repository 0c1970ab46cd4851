"""Makes chart descriptions (static/app/chart.js) from the history.

    {"kind": "line", "unit": text, "step_ms": int, "from_ms": int, "to_ms": int,
     "series": [{"name", "x": [ms], "y": [number | null], "low": [...], "high": [...],
                 "is_sum"?: true, "is_earlier"?: true, "name_now"?, "is_other"?: true}],
     "gaps": [{"from_ms", "to_ms", "text"}], "written": text}

Each line has the lowest and the highest value of each of its points: a peak of a minute is seen
over 90 days. With `is_sum` they are values that a sum reached at least (monitoring.history.points).
`name_now` of a line of an earlier time is the name of the line that it is compared with.
`written` says which time of the history was not sampled, if the chart shows a part of it; else "".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _

from console.accounts.rights import Rights
from console.charts import measures, read_lines
from console.charts.chart_query import ChartQuery
from console.charts.read_lines import Line, Unanswered
from console.charts.time_ranges import COMPARE_MS
from console.ui import times
from console.ui.texts import sentence, written_history
from monitoring.error_reason import loads
from monitoring.history import written_range
from monitoring.history.root_folder import current
from monitoring.history.series import Gap, Range
from monitoring.scope import ANY

_MS = 1000
Chart = dict[str, Any]


def may_see(rights: Rights, query: ChartQuery) -> bool:
    """Whether the user may see the chart, and the other subject in it. Sums over a whole cluster
    are for those who see all of its topics and groups."""
    if query.other is not None and not may_see(rights, query.other):
        return False
    if query.kind == "topic":
        return rights.may("topic.view", query.topic)
    if query.kind == "group":
        return rights.may("group.view", query.group)
    scope = rights.scope
    return rights.may("cluster.view") and (
        query.kind == "broker" or (ANY in scope.topics and ANY in scope.groups)
    )


def chart(slug: str, rights: Rights, query: ChartQuery, now_ms: int) -> Chart:
    """The chart of a query that `may_see` allows. Raises OSError if the history is unavailable."""
    over = Range.until(now_ms, query.range_ms, query.points_max)
    read = read_lines.read(slug, rights, query, over)
    series = list(read.lines)
    shown = [over]
    if query.compare:
        by_ms = COMPARE_MS[query.compare]
        shown.append(over.earlier(by_ms))
        earlier = read_lines.read(slug, rights, query, shown[-1])
        series += [
            _as_earlier(line, query.compare, by_ms) for line in earlier.lines[: earlier.compared]
        ]
    if query.other is not None:
        other = read_lines.read(slug, rights, query.other, over)
        series += [_as_other(line, query.other) for line in other.lines[: other.compared]]
    return {
        "kind": "line",
        "unit": measures.units()[query.show],
        "step_ms": over.step_ms,
        "from_ms": over.from_ms,
        "to_ms": max([over.to_ms, *(line["x"][-1] + 1 for line in series if line["x"])]),
        "series": series,
        "gaps": [*map(_gap, read.gaps), *map(_gap_of_answers, read.unanswered)],
        "written": _written(slug, shown),
    }


def _written(slug: str, shown: Sequence[Range]) -> str:
    """The note at a chart of these times that shows written history; else ""."""
    for over in shown:
        found = written_range.overlapping(current(), slug, over.from_ms, over.to_ms)
        if found:
            return written_history(found.from_ms, found.to_ms)
    return ""


def _as_earlier(line: Line, compare: str, by_ms: int) -> Line:
    names = {"yesterday": _("%(name)s, a day before"), "week": _("%(name)s, a week before")}
    return line | {
        "name": names[compare] % {"name": line["name"]},
        "x": [at_ms + by_ms for at_ms in line["x"]],
        "is_earlier": True,
        "name_now": line["name"],
    }


def _as_other(line: Line, other: ChartQuery) -> Line:
    name = other.subject_name
    if len(other.measures) > 1:
        name = f"{name}: {line['name']}"
    return line | {"name": name, "is_other": True}


def _gap(gap: Gap) -> Chart:
    return {"from_ms": gap.from_ms, "to_ms": gap.to_ms, "text": sentence(loads(gap.reason))}


def _gap_of_answers(found: Unanswered) -> Chart:
    text = _("No answer for %(time)s: lag and offsets were not known then.")
    text %= {"time": times.duration(found.ms / _MS)}
    return {"from_ms": found.from_ms, "to_ms": found.to_ms, "text": text}
