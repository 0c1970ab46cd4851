"""What a rule sees in a tick, and how an alert moves from state to state. Pure.

    a reading of one subject (a group, or a group's topic), once per tick:
      OVER     its lag is over the rule's limit
      UNDER    it is not
      UNKNOWN  nobody can tell: no lag is known, or a part of it is missing
      GONE     the subject does not exist any more

    phase    │ OVER              UNDER             UNKNOWN   GONE
    ─────────┼──────────────────────────────────────────────────────────────
    OK       │ PENDING           OK                OK        OK
    PENDING  │ PENDING           OK                PENDING   OK
    FIRING   │ FIRING            OK (resolved)     FIRING    OK (resolved)

A subject that is PENDING and has been over for the rule's time becomes FIRING (fired) in the same
tick. What is unknown neither fires nor resolves; a subject that was not seen over the limit for
longer than `unseen_ms_max` starts its time again, since nobody knows what happened in between.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from fnmatch import translate
from functools import lru_cache

from monitoring.hidden import ADMIN_ONLY_TOPICS


class Observation(Enum):
    OVER = "over"
    UNDER = "under"
    UNKNOWN = "unknown"
    GONE = "gone"


class Phase(Enum):
    OK = "ok"
    PENDING = "pending"
    FIRING = "firing"


class Event(Enum):
    FIRED = "fired"
    RESOLVED = "resolved"


NEXT: dict[tuple[Phase, Observation], Phase] = {
    (Phase.OK, Observation.OVER): Phase.PENDING,
    (Phase.OK, Observation.UNDER): Phase.OK,
    (Phase.OK, Observation.UNKNOWN): Phase.OK,
    (Phase.OK, Observation.GONE): Phase.OK,
    (Phase.PENDING, Observation.OVER): Phase.PENDING,
    (Phase.PENDING, Observation.UNDER): Phase.OK,
    (Phase.PENDING, Observation.UNKNOWN): Phase.PENDING,
    (Phase.PENDING, Observation.GONE): Phase.OK,
    (Phase.FIRING, Observation.OVER): Phase.FIRING,
    (Phase.FIRING, Observation.UNDER): Phase.OK,
    (Phase.FIRING, Observation.UNKNOWN): Phase.FIRING,
    (Phase.FIRING, Observation.GONE): Phase.OK,
}


@dataclass(frozen=True, slots=True)
class Rule:
    """A condition: the lag of a matching group (or of its matching topics) over a limit.

    Patterns are shell-style (`*`, `?`, `[ab]`); an empty topic pattern takes the group's sum.
    """

    id: int
    group_pattern: str
    topic_pattern: str
    lag_max: int
    for_ms: int


@dataclass(frozen=True, slots=True, order=True)
class Subject:
    """What an alert is about; an empty topic = the group as a whole."""

    group: str
    topic: str = ""


@dataclass(frozen=True, slots=True)
class SubjectState:
    """Where a subject stands with a rule; a subject that is OK has none."""

    phase: Phase
    since_ms: int  # when the condition began to hold
    seen_ms: int  # when it was last seen to hold
    unknown_since_ms: int | None = None  # since when nobody can tell; None = it is known


@dataclass(frozen=True, slots=True)
class LagReading:
    """A subject's lag in a tick; None = nothing known. `complete` = no part is missing.

    `ahead` partitions are in it as 0: their commits are beyond their ends, by `ahead_by` together.
    """

    lag: int | None
    complete: bool
    ahead: int = 0
    ahead_by: int = 0


@dataclass(frozen=True, slots=True)
class RuleInput:
    """One tick as rules see it. `all_groups` = a subject that is absent does not exist."""

    at_ms: int
    groups: Mapping[Subject, LagReading]
    topics: Mapping[Subject, LagReading]
    all_groups: bool


@dataclass(frozen=True, slots=True)
class Transition:
    """A subject whose alert fires or resolves in this tick."""

    subject: Subject
    event: Event
    since_ms: int
    found: LagReading | None  # in this tick; None = it is not in it
    gone: bool = False

    @property
    def lag(self) -> int | None:
        return self.found.lag if self.found else None


def evaluate_rule(
    rule: Rule, view: RuleInput, standing: Mapping[Subject, SubjectState], unseen_ms_max: int
) -> tuple[dict[Subject, SubjectState], list[Transition]]:
    """Every subject's new standing (those that are OK left out), and what changed."""
    sums = view.topics if rule.topic_pattern else view.groups
    new: dict[Subject, SubjectState] = {}
    transitions: list[Transition] = []
    for subject in sorted({*standing, *_over(rule, sums)}):
        reading = Observation.GONE  # also where the rule was changed and matches it no more
        if matches(rule, subject):
            reading = read(rule, sums.get(subject), all_groups=view.all_groups)
        before = standing.get(subject)
        after = step(before, reading, view.at_ms, rule.for_ms, unseen_ms_max)
        if after is not None:
            new[subject] = after
        event = _event(before, after)
        if event is not None:
            since_ms = (after or before or _NOWHERE).since_ms
            gone = reading is Observation.GONE
            transitions.append(Transition(subject, event, since_ms, sums.get(subject), gone))
    return new, transitions


def step(
    before: SubjectState | None, reading: Observation, now_ms: int, for_ms: int, unseen_ms_max: int
) -> SubjectState | None:
    """The standing after `reading`; None = OK."""
    phase = NEXT[before.phase if before else Phase.OK, reading]
    if phase is Phase.OK:
        return None
    if before is None or (
        before.phase is Phase.PENDING and now_ms - before.seen_ms > unseen_ms_max
    ):
        if reading is not Observation.OVER:
            return None  # not seen for too long, and still nobody can tell
        before = SubjectState(phase, now_ms, now_ms)
    seen_ms, unknown_since_ms = now_ms, None
    if reading is not Observation.OVER:
        seen_ms, unknown_since_ms = before.seen_ms, before.unknown_since_ms or now_ms
    if phase is Phase.PENDING and seen_ms - before.since_ms >= for_ms:
        phase = Phase.FIRING
    return SubjectState(phase, before.since_ms, seen_ms, unknown_since_ms)


def read(rule: Rule, found: LagReading | None, *, all_groups: bool) -> Observation:
    """What the rule sees of one subject."""
    if found is None:
        return Observation.GONE if all_groups else Observation.UNKNOWN
    if found.lag is not None and found.lag > rule.lag_max:
        return Observation.OVER  # even if a part is missing: it could only add
    return Observation.UNDER if found.lag is not None and found.complete else Observation.UNKNOWN


def _over(rule: Rule, sums: Mapping[Subject, LagReading]) -> Iterable[Subject]:
    """Matching subjects over the limit: few, so patterns are tried on these alone."""
    for subject, found in sums.items():
        if found.lag is not None and found.lag > rule.lag_max and matches(rule, subject):
            yield subject


def matches(rule: Rule, subject: Subject) -> bool:
    """Whether the rule is about this subject.

    A hidden topic is watched only by a pattern that begins with its prefix: the alert of a rule
    with "*" goes to a webhook, and to people, who must not learn of it.
    """
    is_hidden = subject.topic.startswith(ADMIN_ONLY_TOPICS)
    if is_hidden and not rule.topic_pattern.startswith(ADMIN_ONLY_TOPICS):
        return False
    group, topic = _pattern(rule.group_pattern), _pattern(rule.topic_pattern or "*")
    return bool(group.match(subject.group) and topic.match(subject.topic))


@lru_cache(maxsize=4096)
def _pattern(glob: str) -> re.Pattern[str]:
    return re.compile(translate(glob))


_NOWHERE = SubjectState(Phase.OK, 0, 0)


def _event(before: SubjectState | None, after: SubjectState | None) -> Event | None:
    fired_before = before is not None and before.phase is Phase.FIRING
    fires_now = after is not None and after.phase is Phase.FIRING
    if fires_now and not fired_before:
        return Event.FIRED
    return Event.RESOLVED if fired_before and not fires_now else None
