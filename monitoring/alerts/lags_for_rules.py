"""The lags of a tick by group and topic, as input of alert rules: the sums of pages. Pure."""

from collections.abc import Iterator

import numpy as np

from monitoring.alerts.lag_condition import LagReading, RuleInput, Subject
from monitoring.lag.lag_sums import LagSums
from monitoring.read_model.tick_columns import TickColumns
from monitoring.scope import EVERYTHING, Scope
from monitoring.ticks.tick import Tick


def rule_input_of(tick: Tick, scope: Scope = EVERYTHING, *, with_topics: bool) -> RuleInput:
    """The lag of every group and, with `with_topics`, of every group on each topic, in an ok tick.

    Commits on deleted topics are left out: their end offset will never be known. Topics outside
    the scope are in no group's sum, since an alert is sent to people who must not see them. Only a
    rule whose topic pattern is the full name of such a topic applies to it.
    """
    columns = TickColumns.of(tick)
    groups, names = columns.groups, columns.groups.group_names.all
    hidden = [not scope.shows_topic(name) for name in groups.topic_names.all]
    is_hidden = np.array([*hidden, False])[groups.topic]  # −1, no topic, takes the last
    counted = ~columns.is_topic_absent & ~is_hidden
    codes = np.unique(groups.group[counted])
    sums = groups.sums.sums_by(groups.group, len(names), counted).take(codes)
    # A pair is a group and a topic that it reads (group_columns.py). Hidden topics, too:
    # lag_condition.matches decides.
    pairs = np.flatnonzero(~columns.is_topic_absent & (groups.topic >= 0))
    return RuleInput(
        at_ms=tick.at_ms,
        groups={
            Subject(names[code]): reading
            for code, reading in zip(codes.tolist(), _readings(sums), strict=True)
        },
        topics={
            Subject(names[groups.group[pair]], groups.topic_names.all[groups.topic[pair]]): reading
            for pair, reading in zip(pairs, _readings(groups.sums.take(pairs)), strict=True)
        }
        if with_topics
        else {},
        groups_complete=tick.groups_complete,
        hidden_topics=scope.hidden_topics,
    )


def _readings(sums: LagSums) -> Iterator[LagReading]:
    columns = sums.value_lists()
    names = ("lag", "end_unknown", "ahead", "ahead_by")
    for lag, unknown, ahead, ahead_by in zip(*(columns[name] for name in names), strict=True):
        yield LagReading(lag, unknown == 0, ahead or 0, ahead_by or 0)
