"""The condition of an alert rule: which subjects it matches, and whether a lag is over it. Pure.

state_machine.py decides when an alert fires. The kinds of rules are in models.py (AlertRule.Kind).
Partitions without a commit are in no lag (monitoring/lag/lag_sums.py).
"""

import re
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from enum import Enum
from fnmatch import translate
from functools import lru_cache


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

    Only a rule whose topic pattern is the full name of a topic in `hidden_topics` applies to it: a
    rule with "*" would reveal it to the webhook and to other users.
    """

    at_ms: int
    groups: Mapping[Subject, LagReading]
    topics: Mapping[Subject, LagReading]
    groups_complete: bool
    hidden_topics: frozenset[str] = frozenset()


class Observation(Enum):
    """What a tick says about a subject.

    UNKNOWN: the lag is unknown, or incomplete and not over the threshold.
    GONE: the subject does not exist any more, or the rule does not match it any more.
    """

    OVER = "over"
    UNDER = "under"
    UNKNOWN = "unknown"
    GONE = "gone"


def observe(
    condition: Condition, lag_reading: LagReading | None, *, groups_complete: bool
) -> Observation:
    """The observation of one subject."""
    if lag_reading is None:
        return Observation.GONE if groups_complete else Observation.UNKNOWN
    if lag_reading.lag is not None and lag_reading.lag > condition.threshold:
        return Observation.OVER  # missing partitions could only increase the lag
    return (
        Observation.UNDER
        if lag_reading.lag is not None and lag_reading.complete
        else Observation.UNKNOWN
    )


def subjects_over_threshold(
    condition: Condition, readings: Mapping[Subject, LagReading], hidden_topics: Set[str]
) -> Iterable[Subject]:
    """Matching subjects over the threshold, which is checked first: few subjects are over it."""
    for subject, lag_reading in readings.items():
        is_over = lag_reading.lag is not None and lag_reading.lag > condition.threshold
        if is_over and matches(condition, subject, hidden_topics):
            yield subject


def matches(condition: Condition, subject: Subject, hidden_topics: Set[str] = frozenset()) -> bool:
    """Whether the rule applies to this subject."""
    if subject.topic in hidden_topics and subject.topic != condition.topic_pattern:
        return False
    group, topic = _compiled(condition.group_pattern), _compiled(condition.topic_pattern or "*")
    return bool(group.match(subject.group) and topic.match(subject.topic))


@lru_cache(maxsize=4096)
def _compiled(glob: str) -> re.Pattern[str]:
    return re.compile(translate(glob))
