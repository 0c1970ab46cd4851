"""The query of a chart, as parameters of a URL. Pure.

of=cluster | topic | group | broker      with topic=, partition=, group=, broker=
show=records | bytes | size | lag | …    (measures.py)
range=15m … 90d (ranges.py)    compare= (nothing) | yesterday | week
with=                                    another topic, topic/partition, group or broker beside it
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal
from urllib.parse import urlencode

from console.charts.measures import MEASURES
from console.charts.ranges import DEFAULT_RANGE, RANGES_MS
from monitoring.history.series import COMPARE_MS, Subject

Kind = Literal["cluster", "topic", "group", "broker"]
_NUMBER_DIGITS = 9


class InvalidQuery(ValueError):
    """A parameter is missing or has an unknown value; the text says which values there are."""


@dataclass(frozen=True, slots=True)
class Query:
    """One chart."""

    of: str
    show: str
    topic: str = ""
    partition: int | None = None
    group: str = ""
    broker: int = -1
    range: str = DEFAULT_RANGE
    compare: str = ""
    other: Query | None = None

    @property
    def subject(self) -> Subject:
        if self.of == "cluster":
            return Subject.cluster()
        if self.of == "topic":
            return Subject.topic(self.topic, self.partition)
        if self.of == "broker":
            return Subject.broker(self.broker)
        return Subject.group(self.group)

    @property
    def subject_name(self) -> str:
        """What `with=` says for this subject."""
        if self.of == "topic":
            return self.topic if self.partition is None else f"{self.topic}/{self.partition}"
        return self.group if self.of == "group" else str(self.broker)

    def for_subject(self, name: str) -> Query:
        """The same chart of another subject of this kind. Raises InvalidQuery."""
        same = replace(self, compare="", other=None)
        if self.of == "topic" and self.partition is not None:
            topic, _slash, number = name.rpartition("/")
            return replace(same, topic=topic, partition=_number("with", number))
        if self.of == "topic":
            return replace(same, topic=name)
        if self.of == "group":
            return replace(same, group=name)
        if self.of == "broker":
            return replace(same, broker=_number("with", name))
        raise InvalidQuery("with is for charts of topics, groups and brokers")

    @property
    def measures(self) -> tuple[str, ...]:
        return MEASURES[self.of][self.show]

    @property
    def range_ms(self) -> int:
        return RANGES_MS[self.range]

    def parameters(self) -> str:
        """The query string; without range and compare, which the page adds."""
        names = {"cluster": (), "topic": ("topic",), "group": ("group",), "broker": ("broker",)}
        found = {"of": self.of, "show": self.show}
        found |= {name: str(getattr(self, name)) for name in names[self.of]}
        if self.partition is not None:
            found["partition"] = str(self.partition)
        return urlencode(found)


def parse(params: Mapping[str, str]) -> Query:
    """Raises InvalidQuery."""
    of = _one_of(params, "of", MEASURES)
    partition = params.get("partition", "")
    query = Query(
        of=of,
        show=_one_of(params, "show", MEASURES[of]),
        topic=params.get("topic", ""),
        partition=_number("partition", partition) if partition else None,
        group=params.get("group", ""),
        broker=_number("broker", params.get("broker", "")) if of == "broker" else -1,
        range=_one_of(params, "range", RANGES_MS, DEFAULT_RANGE),
        compare=_one_of(params, "compare", {"": 0} | COMPARE_MS, ""),
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
