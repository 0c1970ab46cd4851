"""What alert rules compare: a rule's condition, the subjects of alerts, and their lags in a tick.

The kinds of rules are in models.py (AlertRule.Kind). Pure.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Condition:
    """When a rule fires: a matching group, or its matching topics, have a lag over the threshold.

    Patterns are shell-style (`*`, `?`, `[ab]`); an empty topic pattern means the group's total lag.
    """

    group_pattern: str
    topic_pattern: str
    threshold: int
    for_ms: int


@dataclass(frozen=True, slots=True, order=True)
class Subject:
    """What an alert is about; an empty topic = the group as a whole."""

    group: str
    topic: str = ""


@dataclass(frozen=True, slots=True)
class LagReading:
    """A subject's lag in a tick; None = unknown. `complete`: no partition is missing in it.

    `ahead` partitions count as 0: their commits are beyond their ends, by `ahead_by` in total.
    """

    lag: int | None
    complete: bool
    ahead: int = 0
    ahead_by: int = 0


@dataclass(frozen=True, slots=True)
class RuleInput:
    """The lags of one tick. `groups_complete`: a subject that is missing here does not exist.

    Only a rule that contains the full name of a topic in `hidden_topics` applies to it: a rule with
    "*" would reveal it to the webhook and to other users.
    """

    at_ms: int
    groups: Mapping[Subject, LagReading]
    topics: Mapping[Subject, LagReading]
    groups_complete: bool
    hidden_topics: frozenset[str] = frozenset()
