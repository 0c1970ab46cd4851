"""Reads the lines of a chart from the history, for each kind of chart."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from django.utils.translation import gettext as _

from console.accounts.rights import Rights
from console.charts import measures
from console.charts.chart_query import ChartQuery
from console.live import snapshot_cache
from monitoring.history import points, series
from monitoring.history.points import Points
from monitoring.history.series import Gap, Range, Subject
from monitoring.history.table_specs import GROUP_TOPICS, LOG_DIRS, UNANSWERED_MS
from monitoring.scope import ANY

TOPICS_MAX = 7  # lines of a group's topics, besides the group's own
TOPICS_SUMMED_MAX = 50  # of a group; each is a query
_MS = 1000.0
_DIGITS = 6
# Charts of a broker → the measure of its log directories.
_OF_LOG_DIRS = {"size": "size_bytes", "disk": "free_bytes"}
Line = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Unanswered:
    """Points one after the other that have samples without an answer, for `ms` together."""

    from_ms: int
    to_ms: int
    ms: int


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of a chart. Another time or subject adds only the first `compared` ones."""

    lines: list[Line]
    gaps: tuple[Gap, ...]
    compared: int
    unanswered: tuple[Unanswered, ...] = ()

    def known(self) -> Lines:
        """Without lines that have no value."""
        found = [any(y is not None for y in line["y"]) for line in self.lines]
        known_lines = [line for line, is_known in zip(self.lines, found, strict=True) if is_known]
        return replace(self, lines=known_lines, compared=sum(found[: self.compared]))


def read(slug: str, rights: Rights, query: ChartQuery, over: Range) -> Lines:
    """The lines of a chart in a range. Raises OSError if the history is unavailable."""
    if query.kind == "group":
        return _of_group(slug, rights, query, over).known()
    if query.kind == "broker" and query.show in _OF_LOG_DIRS:
        dirs = series.names(slug, LOG_DIRS, "log_dir", {"broker": query.broker}, over)
        if len(dirs) > 1:
            return _of_log_dirs(slug, query, dirs, over).known()
    found = series.read(slug, query.subject, query.measures, over)
    factor = 1 / _MS if query.show == "cpu" else 1.0
    names = measures.line_names()
    lines = [_line(names[name], points, factor) for name, points in found.measures.items()]
    return Lines(lines, found.gaps, len(lines)).known()


def _of_log_dirs(slug: str, query: ChartQuery, dirs: list[str], over: Range) -> Lines:
    measure = _OF_LOG_DIRS[query.show]
    lines: list[Line] = []
    gaps: tuple[Gap, ...] = ()
    subjects = [Subject(LOG_DIRS, (query.broker, log_dir)) for log_dir in dirs]
    all_found = series.read_all(slug, subjects, [measure], over)
    for log_dir, found in zip(dirs, all_found, strict=True):
        lines.append(_line(log_dir, found.measures[measure]))
        gaps = found.gaps
    return Lines(lines, gaps, len(lines))


def _of_group(slug: str, rights: Rights, query: ChartQuery, over: Range) -> Lines:
    topics = _topics_of(slug, rights, query.group, over)
    is_whole = _sees_whole_group(slug, rights, query.group, over)
    if query.show == "lag":
        return _lag(slug, query.group, topics, is_whole, over)
    return _produced_and_consumed(slug, query.group, topics, is_whole, over)


def _lag(slug: str, group: str, topics: list[str], is_whole: bool, over: Range) -> Lines:
    """The group's line and those of the topics that are most behind. If the user does not see all
    of its topics, the group's line is the sum over those that the user sees."""
    found = _sum(slug, group, "lag", topics, is_whole, over)
    whole = found.whole
    name = _("all topics") if len(topics) > 1 else (topics[0] if topics else group)
    lines = [] if whole is None else [_line(name if is_whole else _sum_name(), whole)]
    if len(topics) > 1 or whole is None:
        lines += [_line(topic, found.by_topic[topic]) for topic in topics[:TOPICS_MAX]]
    return Lines(lines, found.gaps, compared=1, unanswered=found.unanswered)


def _sum_name() -> str:
    return _("the topics that you see")


def _produced_and_consumed(
    slug: str, group: str, topics: list[str], is_whole: bool, over: Range
) -> Lines:
    """What the group's topics get, and what the group reads of them."""
    names = measures.line_names()
    summed = _sum(slug, group, "consumed", topics, is_whole, over, of_topics=not is_whole)
    consumed = summed.whole
    if consumed is None and len(topics) == 1:
        consumed = summed.by_topic[topics[0]]
    lines = []
    if topics and len(topics) <= TOPICS_SUMMED_MAX:
        subjects = [Subject.topic(topic) for topic in topics]
        found = series.read_all(slug, subjects, ["records"], over)
        produced = points.total([one.measures["records"] for one in found])
        lines.append(_line(names["records"], produced))
    if consumed is not None:
        lines.append(_line(names["consumed"], consumed))
    return Lines(lines, summed.gaps, len(lines), summed.unanswered)


@dataclass(frozen=True, slots=True)
class _GroupSum:
    """The points of a group (None if not known) and of its topics; `unanswered`: the times without
    an answer of the group or, if it is not read as a whole, of its topics."""

    whole: Points | None
    by_topic: dict[str, Points]
    unanswered: tuple[Unanswered, ...]
    gaps: tuple[Gap, ...]


def _sum(
    slug: str,
    group: str,
    measure: str,
    topics: list[str],
    is_whole: bool,
    over: Range,
    *,
    of_topics: bool = True,
) -> _GroupSum:
    """The measure of a group, and of its topics if `of_topics`."""
    with_unanswered = [measure, UNANSWERED_MS]
    whole: Points | None = None
    gaps: tuple[Gap, ...] = ()
    unanswered: list[Points] = []
    if is_whole:
        found = series.read(slug, Subject.group(group), with_unanswered, over)
        whole, gaps = found.measures[measure], found.gaps
        unanswered.append(found.measures[UNANSWERED_MS])
    by_topic: dict[str, Points] = {}
    count = TOPICS_MAX if is_whole else TOPICS_SUMMED_MAX
    names = topics[: count if of_topics else 0]
    subjects = [Subject.group(group, topic) for topic in names]
    columns = [measure] if is_whole else with_unanswered
    all_found = series.read_all(slug, subjects, columns, over)
    for topic, found in zip(names, all_found, strict=True):
        by_topic[topic], gaps = found.measures[measure], found.gaps
        if not is_whole:
            unanswered.append(found.measures[UNANSWERED_MS])
    if whole is None and 1 < len(topics) <= TOPICS_SUMMED_MAX:
        whole = points.total(list(by_topic.values()))
    return _GroupSum(whole, by_topic, _unanswered(unanswered), gaps)


def _unanswered(parts: list[Points]) -> tuple[Unanswered, ...]:
    """The times in which a part of a sum was unanswered. In each point the part with the longest
    time counts."""
    if not parts:
        return ()
    ms = np.nan_to_num(np.fmax.reduce([part.mean for part in parts]))
    edges = np.flatnonzero(np.diff(ms > 0, prepend=False, append=False))
    at_ms, step_ms = parts[0].at_ms, parts[0].step_ms
    return tuple(
        Unanswered(int(at_ms[first]), int(at_ms[end - 1]) + step_ms, int(ms[first:end].sum()))
        for first, end in edges.reshape(-1, 2)
    )


def _topics_of(slug: str, rights: Rights, group: str, over: Range) -> list[str]:
    """The topics of a group that the user sees, those that are most behind first."""
    shown = snapshot_cache.snapshot(slug, rights)
    rows = shown.topics_of_group(group, 1000) if shown and shown.group(group) else []
    names = [row.topic for row in sorted(rows, key=lambda row: -(row.lag.value or 0))]
    stored = series.names(slug, GROUP_TOPICS, "topic", {"group": group}, over)
    names += [topic for topic in stored if topic not in names]
    return [topic for topic in names if rights.may("topic.view", topic)]


def _sees_whole_group(slug: str, rights: Rights, group: str, over: Range) -> bool:
    scope = rights.scope
    if ANY in scope.topics and not scope.hidden_topics:
        return True
    shown = snapshot_cache.snapshot(slug, rights)
    if shown and shown.hides_topics_of(group):
        return False
    topics = series.names(slug, GROUP_TOPICS, "topic", {"group": group}, over)
    return all(rights.may("topic.view", topic) for topic in topics)


def _line(name: str, points: Points, factor: float = 1.0) -> Line:
    line: Line = {
        "name": name,
        "x": points.at_ms.tolist(),
        "y": _numbers(points.mean * factor),
        "low": _numbers(points.low * factor),
        "high": _numbers(points.high * factor),
    }
    return line | {"is_sum": True} if points.is_sum else line


def _numbers(values: np.ndarray) -> list[float | None]:
    """The values for JSON: null instead of NaN, with no more digits than a chart shows."""
    is_known = ~np.isnan(values)
    is_zero = ~is_known | (values == 0)
    places = _DIGITS - 1 - np.floor(np.log10(np.abs(np.where(is_zero, 1.0, values))))
    # Powers of ten are exact as floats, their inverses are not: so the quotient is the nearest one.
    scale, unit = 10.0 ** np.maximum(places, 0), 10.0 ** np.maximum(-places, 0)
    rounded = (np.round(values * scale / unit) / scale * unit).astype(object)
    rounded[~is_known] = None
    found: list[float | None] = rounded.tolist()
    return found
