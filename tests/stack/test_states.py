import pytest

from stack.states import RUNNING, SETTLED, TRANSITIONS, Event, State

LEGAL = {
    State.WAITING: {Event.DUE, Event.STOP},
    State.STARTING: {Event.ANSWERED, Event.COMPLETED, Event.EXITED, Event.STOP},
    State.READY: {Event.EXITED, Event.STOP},
    State.DONE: {Event.STOP},
    State.BACKOFF: {Event.DUE, Event.STOP},
    State.STOPPING: {Event.EXITED},
    State.GONE: set(),
}


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("event", Event)
def test_every_pair_of_state_and_event_is_legal_or_absent(state: State, event: Event) -> None:
    assert ((state, event) in TRANSITIONS) == (event in LEGAL[state])


def test_a_stop_leads_from_every_running_state_to_stopping() -> None:
    for state in RUNNING - {State.STOPPING}:
        assert TRANSITIONS[state, Event.STOP] is State.STOPPING


def test_nothing_leads_out_of_gone() -> None:
    assert not [pair for pair in TRANSITIONS if pair[0] is State.GONE]


def test_what_others_build_on_is_not_on_its_way_out() -> None:
    assert not SETTLED & {State.WAITING, State.STARTING, State.BACKOFF, State.STOPPING, State.GONE}
