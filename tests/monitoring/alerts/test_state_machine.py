import itertools

import pytest

from monitoring.alerts.lag_condition import Condition, LagReading, Observation, RuleInput, Subject
from monitoring.alerts.state_machine import (
    NEXT,
    Phase,
    SubjectState,
    TransitionKind,
    evaluate_condition,
    next_state,
)

CONDITION = Condition(group_pattern="orders-*", topic_pattern="", threshold=100, for_ms=10_000)
SUBJECT = Subject("orders-a")
OVER_AGE_MS_MAX = 15_000


def rule_input(at_ms, lag=None, *, complete=True, groups_complete=True, absent=False):
    sums = {} if absent else {SUBJECT: LagReading(lag, complete)}
    return RuleInput(at_ms, sums, {}, groups_complete)


def run(*views, condition=CONDITION):
    states, changes = {}, []
    for seen in views:
        states, transitions = evaluate_condition(condition, seen, states, OVER_AGE_MS_MAX)
        changes += [(seen.at_ms, t.kind, t.since_ms, t.lag) for t in transitions]
    return states, changes


def test_the_table_covers_every_phase_and_reading():
    assert set(NEXT) == set(itertools.product(Phase, Observation))


@pytest.mark.parametrize(("phase", "observation"), list(itertools.product(Phase, Observation)))
def test_a_step_follows_the_table(phase, observation):
    before = None if phase is Phase.OK else SubjectState(phase, 0, 1000)
    after = next_state(before, observation, 2000, for_ms=60_000, over_age_ms_max=OVER_AGE_MS_MAX)
    assert (after.phase if after else Phase.OK) is NEXT[phase, observation]


def test_it_fires_once_the_lag_was_over_for_the_whole_time():
    states, changes = run(
        rule_input(0, 101), rule_input(5_000, 500), rule_input(10_000, 102), rule_input(15_000, 103)
    )
    assert changes == [(10_000, TransitionKind.FIRED, 0, 102)]
    assert states[SUBJECT].phase is Phase.FIRING


def test_the_limit_itself_is_not_over_it():
    assert run(rule_input(0, 100), rule_input(20_000, 100)) == ({}, [])


def test_one_tick_under_the_limit_starts_the_time_again():
    _, changes = run(
        rule_input(0, 200), rule_input(5_000, 50), rule_input(10_000, 200), rule_input(15_000, 200)
    )
    assert changes == []


def test_it_resolves_when_the_lag_falls():
    _, changes = run(rule_input(0, 200), rule_input(10_000, 200), rule_input(15_000, 100))
    assert [kind for _, kind, *_ in changes] == [TransitionKind.FIRED, TransitionKind.RESOLVED]


def test_a_rule_without_time_fires_at_once():
    condition = Condition("*", "", 100, for_ms=0)
    _, changes = run(rule_input(0, 101), condition=condition)
    assert changes == [(0, TransitionKind.FIRED, 0, 101)]


def test_an_unknown_lag_neither_fires_nor_resolves():
    states, changes = run(rule_input(0, 200), rule_input(10_000, None))
    assert (states[SUBJECT].phase, changes) == (Phase.PENDING, [])
    states, changes = run(rule_input(0, 200), rule_input(10_000, 200), rule_input(15_000, None))
    assert (states[SUBJECT].phase, len(changes)) == (Phase.FIRING, 1)


def test_a_long_time_unseen_does_not_count_as_time_over_the_limit():
    _, changes = run(rule_input(0, 200), rule_input(60_000, 200))
    assert changes == []
    _, changes = run(rule_input(0, 200), rule_input(60_000, 200), rule_input(70_000, 200))
    assert changes == [(70_000, TransitionKind.FIRED, 60_000, 200)]


def test_a_firing_alert_survives_a_long_gap_without_firing_again():
    states, changes = run(rule_input(0, 200), rule_input(10_000, 200), rule_input(10_000_000, 200))
    assert len(changes) == 1
    assert states[SUBJECT].phase is Phase.FIRING


def test_a_group_that_is_gone_resolves_and_says_so():
    states = {SUBJECT: SubjectState(Phase.FIRING, 0, 0)}
    new, [transition] = evaluate_condition(
        CONDITION, rule_input(5_000, absent=True), states, OVER_AGE_MS_MAX
    )
    assert new == {}
    assert (transition.kind, transition.gone) == (TransitionKind.RESOLVED, True)


def test_a_group_that_is_absent_because_its_coordinator_is_silent_is_not_gone():
    states = {SUBJECT: SubjectState(Phase.FIRING, 0, 0)}
    absent = rule_input(5_000, absent=True, groups_complete=False)
    new, transitions = evaluate_condition(CONDITION, absent, states, OVER_AGE_MS_MAX)
    assert (set(new), transitions) == ({SUBJECT}, [])


def test_patterns_choose_groups_and_topics():
    over = LagReading(500, True)
    sums = dict.fromkeys(
        [Subject("orders-a", "x.1"), Subject("orders-a", "y"), Subject("other", "x.1")], over
    )
    condition = Condition("orders-*", "x.*", 100, for_ms=0)
    _, transitions = evaluate_condition(
        condition, RuleInput(0, {}, sums, True), {}, OVER_AGE_MS_MAX
    )
    assert [t.subject for t in transitions] == [Subject("orders-a", "x.1")]


def test_only_a_rule_with_its_full_name_applies_to_a_hidden_topic():
    hidden = Subject("orders-a", "console.audit")
    sums = RuleInput(0, {}, {hidden: LagReading(500, True)}, True, frozenset({"console.audit"}))

    def fires_for(pattern):
        condition = Condition(group_pattern="*", topic_pattern=pattern, threshold=100, for_ms=0)
        return bool(evaluate_condition(condition, sums, {}, OVER_AGE_MS_MAX)[1])

    assert not any(map(fires_for, ("*", "con*", "[c]onsole.*", "?onsole.audit", "console.*")))
    assert fires_for("console.audit")


def test_a_group_rule_sees_the_sum_and_not_single_topics():
    seen = RuleInput(0, {}, {Subject("orders-a", "x"): LagReading(500, True)}, True)
    assert evaluate_condition(CONDITION, seen, {}, OVER_AGE_MS_MAX) == ({}, [])
