"""From a tick to what rules see of it, by the sums that pages show. Pure."""

from collections.abc import Iterator

import numpy as np

from monitoring.alerts.rules import LagReading, RuleInput, Subject
from monitoring.read_model.group_columns import LagSums
from monitoring.read_model.tick_columns import TickColumns
from monitoring.scope import EVERYTHING, Scope
from monitoring.ticks.tick import Tick


def rule_input_of(tick: Tick, scope: Scope = EVERYTHING, *, with_topics: bool) -> RuleInput:
    """The sums of every group, and if asked for of every group's topics, in an ok tick.

    Commits on topics that the cluster does not have any more are left out: their end is not
    unknown for now, it is gone. Topics that the scope does not show are in no group's sum: its
    alert goes to a webhook, and to people, who must not learn of them. A rule that names such a
    topic watches it alone.
    """
    columns = TickColumns.of(tick)
    groups, names = columns.groups, columns.groups.groups.all
    hidden = [not scope.shows_topic(name) for name in groups.topics.all]
    is_hidden = np.array([*hidden, False])[groups.topic]
    counted = ~columns.is_of_absent_topic & ~is_hidden
    seen = np.unique(groups.group[counted])
    sums = groups.sums.by(groups.group, len(names), counted).take(seen)
    pairs = np.flatnonzero(~columns.is_of_absent_topic & (groups.topic >= 0))
    return RuleInput(
        at_ms=tick.at_ms,
        groups={
            Subject(names[code]): reading
            for code, reading in zip(seen.tolist(), _readings(sums), strict=True)
        },
        topics={
            Subject(names[groups.group[pair]], groups.topics.all[groups.topic[pair]]): reading
            for pair, reading in zip(pairs, _readings(groups.sums.take(pairs)), strict=True)
        }
        if with_topics
        else {},
        all_groups=tick.groups_complete,
        hidden_topics=scope.hidden_topics,
    )


def _readings(sums: LagSums) -> Iterator[LagReading]:
    found = sums.lists()
    told = zip(found["lag"], found["end_unknown"], found["ahead"], found["ahead_by"], strict=True)
    for lag, unknown, ahead, ahead_by in told:
        yield LagReading(lag, unknown == 0, ahead or 0, ahead_by or 0)
