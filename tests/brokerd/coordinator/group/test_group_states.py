"""The two tables: complete, and nothing outside them passes."""

import itertools

import pytest

from brokerd.coordinator.group.group_states import (
    ANSWERS,
    TRANSITIONS,
    Event,
    GroupState,
    Request,
    next_state,
)


@pytest.mark.parametrize(("state", "event"), list(itertools.product(GroupState, Event)))
def test_every_pair_follows_the_table_or_is_refused(state: GroupState, event: Event) -> None:
    if (state, event) in TRANSITIONS:
        assert next_state(state, event) is TRANSITIONS[state, event]
        return
    with pytest.raises(AssertionError, match=state.value):
        next_state(state, event)


@pytest.mark.parametrize("request_kind", Request)
def test_every_request_has_an_answer_in_every_state(request_kind: Request) -> None:
    assert set(ANSWERS[request_kind]) == set(GroupState)


def test_nothing_leaves_dead() -> None:
    after = {TRANSITIONS.get((GroupState.DEAD, event)) for event in Event}
    assert after == {None, GroupState.DEAD}


def test_every_state_can_be_reached() -> None:
    assert set(TRANSITIONS.values()) == set(GroupState)
