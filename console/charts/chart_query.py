"""The query of a chart, as parameters of a URL. Pure.

of=cluster | topic | group | broker      with topic=, partition=, group=, broker=
show=records | bytes | size | lag | …    (measures.py)
range=15m … 90d (time_ranges.py)    compare= (nothing) | yesterday | week
with=                                    another topic, topic/partition, group or broker beside it
width=                                   of the chart in CSS pixels
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal
from urllib.parse import urlencode

from console.charts.measures import MEASURES
from console.charts.time_ranges import COMPARE_MS, DEFAULT_RANGE, RANGES_MS
from monitoring.history.points import POINTS_MAX
from monitoring.history.series import Subject

Kind = Literal["cluster", "topic", "group", "broker"]
_NUMBER_DIGITS = 9
_POINTS_A_PIXEL = 2
# A narrower or wider chart counts as one of these.
_WIDTHS_PX = (200, POINTS_MAX // _POINTS_A_PIXEL)
DEFAULT_WIDTH_PX = 300


class InvalidQuery(ValueError):
    """A parameter is missing or has an unknown value; the text says which values there are."""


@dataclass(frozen=True, slots=True)
class ChartQuery:
    """One chart: the kind of its subject, what it shows, and over which time.

    `other` is the same chart of another subject, drawn beside it.
    """

    kind: Kind
    show: str
    topic: str = ""
    partition: int | None = None
    group: str = ""
    broker: int = -1
    range: str = DEFAULT_RANGE
    compare: str = ""
    other: ChartQuery | None = None
    width_px: int = DEFAULT_WIDTH_PX

    @property
    def points_max(self) -> int:
        """How many points the chart has at most."""
        least, most = _WIDTHS_PX
        return _POINTS_A_PIXEL * min(max(self.width_px, least), most)

    @property
    def subject(self) -> Subject:
        if self.kind == "cluster":
            return Subject.cluster()
        if self.kind == "topic":
            return Subject.topic(self.topic, self.partition)
        if self.kind == "broker":
            return Subject.broker(self.broker)
        return Subject.group(self.group)

    @property
    def subject_name(self) -> str:
        """The subject's name as in `with=`."""
        if self.kind == "topic":
            return self.topic if self.partition is None else f"{self.topic}/{self.partition}"
        return self.group if self.kind == "group" else str(self.broker)

    def for_subject(self, name: str) -> ChartQuery:
        """The same chart of another subject of this kind. Raises InvalidQuery."""
        same = replace(self, compare="", other=None)
        if self.kind == "topic" and self.partition is not None:
            topic, _slash, number = name.rpartition("/")
            return replace(same, topic=topic, partition=_number("with", number))
        if self.kind == "topic":
            return replace(same, topic=name)
        if self.kind == "group":
            return replace(same, group=name)
        if self.kind == "broker":
            return replace(same, broker=_number("with", name))
        raise InvalidQuery("with is for charts of topics, groups and brokers")

    @property
    def measures(self) -> tuple[str, ...]:
        return MEASURES[self.kind][self.show]

    @property
    def range_ms(self) -> int:
        return RANGES_MS[self.range]

    def parameters(self) -> str:
        """The query string; without range and compare, which the page adds, and without the width,
        which the browser adds."""
        names = {"cluster": (), "topic": ("topic",), "group": ("group",), "broker": ("broker",)}
        found = {"of": self.kind, "show": self.show}
        found |= {name: str(getattr(self, name)) for name in names[self.kind]}
        if self.partition is not None:
            found["partition"] = str(self.partition)
        return urlencode(found)


def parse(params: Mapping[str, str]) -> ChartQuery:
    """The chart that these parameters ask for. Raises InvalidQuery."""
    kind: Any = _one_of(params, "of", MEASURES)
    partition = params.get("partition", "")
    query = ChartQuery(
        kind=kind,
        show=_one_of(params, "show", MEASURES[kind]),
        topic=params.get("topic", ""),
        partition=_number("partition", partition) if partition else None,
        group=params.get("group", ""),
        broker=_number("broker", params.get("broker", "")) if kind == "broker" else -1,
        range=_one_of(params, "range", RANGES_MS, DEFAULT_RANGE),
        compare=_one_of(params, "compare", {"": 0} | COMPARE_MS, ""),
        width_px=_number("width", params.get("width") or str(DEFAULT_WIDTH_PX)),
    )
    other = params.get("with", "")
    return replace(query, other=query.for_subject(other)) if other else query


def _one_of(
    params: Mapping[str, str], name: str, values: Mapping[str, object], default: str | None = None
) -> str:
    value = params.get(name, default)
    if value is None or value not in values:
        raise InvalidQuery(f"{name} is one of {', '.join(filter(None, values))}")
    return value


def _number(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= _NUMBER_DIGITS):
        raise InvalidQuery(f"{name} is a number")
    return int(text)
