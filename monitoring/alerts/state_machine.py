"""The state machine of alerts: when an alert fires, and when it resolves. Pure.

lag_condition.py makes the observation of a subject (a group, or a group's topic), once per tick.

    phase    │ OVER              UNDER             UNKNOWN   GONE
    ─────────┼──────────────────────────────────────────────────────────────
    OK       │ PENDING, FIRING†  OK                OK        OK
    PENDING  │ PENDING, FIRING†  OK                PENDING*  OK
    FIRING   │ FIRING            OK (resolved)     FIRING    OK (resolved)

    * OK if its last OVER is longer ago than `over_age_ms_max`.
    † once over for the rule's time; at once if that is 0.

An unknown lag neither fires nor resolves an alert. If the last OVER of a PENDING subject is
longer ago than `over_age_ms_max`, and then comes another, its time starts again.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from monitoring.alerts.lag_condition import (
    Condition,
    LagReading,
    Observation,
    RuleInput,
    Subject,
    matches,
    observe,
    subjects_over_threshold,
)


class Phase(Enum):
    OK = "ok"
    PENDING = "pending"
    FIRING = "firing"


class TransitionKind(Enum):
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
class SubjectState:
    """The state of a subject under a rule; an OK subject has none."""

    phase: Phase
    since_ms: int  # when the lag went over the threshold
    last_over_ms: int  # when it was last over the threshold
    unknown_since_ms: int | None = None  # since when the lag is unknown; None = it is known


@dataclass(frozen=True, slots=True)
class Transition:
    """A subject whose alert fires or resolves in this tick."""

    subject: Subject
    kind: TransitionKind
    since_ms: int
    lag_reading: LagReading | None  # in this tick; None = the subject is missing
    gone: bool = False

    @property
    def lag(self) -> int | None:
        return self.lag_reading.lag if self.lag_reading else None


def evaluate_condition(
    condition: Condition,
    rule_input: RuleInput,
    states: Mapping[Subject, SubjectState],
    over_age_ms_max: int,
) -> tuple[dict[Subject, SubjectState], list[Transition]]:
    """The new states of all subjects that are not OK, and the transitions."""
    readings = rule_input.topics if condition.topic_pattern else rule_input.groups
    new: dict[Subject, SubjectState] = {}
    transitions: list[Transition] = []
    hidden = rule_input.hidden_topics
    for subject in sorted({*states, *subjects_over_threshold(condition, readings, hidden)}):
        observation = Observation.GONE  # also for a subject that a changed rule does not match
        if matches(condition, subject, hidden):
            observation = observe(
                condition, readings.get(subject), groups_complete=rule_input.groups_complete
            )
        before = states.get(subject)
        after = next_state(before, observation, rule_input.at_ms, condition.for_ms, over_age_ms_max)
        if after is not None:
            new[subject] = after
        kind = _transition_kind(before, after)
        state = after or before
        if kind is not None and state is not None:
            since_ms = state.since_ms
            gone = observation is Observation.GONE
            transitions.append(Transition(subject, kind, since_ms, readings.get(subject), gone))
    return new, transitions


def next_state(
    before: SubjectState | None,
    observation: Observation,
    now_ms: int,
    for_ms: int,
    over_age_ms_max: int,
) -> SubjectState | None:
    """The state after `observation`; None = OK."""
    phase = NEXT[before.phase if before else Phase.OK, observation]
    if phase is Phase.OK:
        return None
    if before is None or (
        before.phase is Phase.PENDING and now_ms - before.last_over_ms > over_age_ms_max
    ):
        if observation is not Observation.OVER:
            return None  # its last observation over the threshold is too old
        before = SubjectState(phase, now_ms, now_ms)
    last_over_ms, unknown_since_ms = now_ms, None
    if observation is not Observation.OVER:
        last_over_ms, unknown_since_ms = before.last_over_ms, before.unknown_since_ms or now_ms
    if phase is Phase.PENDING and last_over_ms - before.since_ms >= for_ms:
        phase = Phase.FIRING
    return SubjectState(phase, before.since_ms, last_over_ms, unknown_since_ms)


def _transition_kind(
    before: SubjectState | None, after: SubjectState | None
) -> TransitionKind | None:
    fired_before = before is not None and before.phase is Phase.FIRING
    fires_now = after is not None and after.phase is Phase.FIRING
    if fires_now and not fired_before:
        return TransitionKind.FIRED
    return TransitionKind.RESOLVED if fired_before and not fires_now else None
