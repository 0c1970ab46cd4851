"""From a tick to what rules see of it. Pure."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from monitoring.alerts.rules import LagReading, RuleInput, Subject
from monitoring.hidden import ADMIN_ONLY_TOPICS
from monitoring.lag.tables import group_totals, topic_totals
from monitoring.ticks.tick import Tick


def rule_input_of(tick: Tick, *, with_topics: bool) -> RuleInput:
    """The sums of every group, and if asked for of every group's topics, in an ok tick.

    Commits on topics that the cluster does not have any more are left out: their end is not
    unknown for now, it is gone. Hidden topics are in no group's sum: its alert goes to a webhook,
    and to people, who must not learn of them. A rule that names such a topic watches it alone.
    """
    groups = _on_existing_topics(tick)
    shown = _without_hidden(groups)
    return RuleInput(
        at_ms=tick.at_ms,
        groups={Subject(row["group"]): _sum(row) for row in _rows(group_totals(shown))},
        topics={
            Subject(row["group"], row["topic"]): _sum(row)
            for row in (_rows(topic_totals(groups), "topic") if with_topics else ())
        },
        all_groups=tick.groups_complete,
    )


def _on_existing_topics(tick: Tick) -> pa.Table:
    existing = pc.unique(tick.partitions["topic"].cast(pa.string()))
    topic = tick.groups["topic"].cast(pa.string())
    return tick.groups.filter(pc.or_(pc.is_null(topic), pc.is_in(topic, value_set=existing)))


def _without_hidden(groups: pa.Table) -> pa.Table:
    for prefix in ADMIN_ONLY_TOPICS:
        is_hidden = pc.starts_with(groups["topic"].cast(pa.string()), prefix)
        groups = groups.filter(pc.invert(pc.fill_null(is_hidden, False)))
    return groups


def _rows(totals: pa.Table, *more: str) -> list[dict[str, Any]]:
    columns = ["group", *more, "lag", "end_unknown", "ahead", "ahead_by"]
    rows: list[dict[str, Any]] = totals.select(columns).to_pylist()
    return rows


def _sum(row: dict[str, Any]) -> LagReading:
    return LagReading(row["lag"], row["end_unknown"] == 0, row["ahead"], row["ahead_by"])
