import pytest

from stack.process_states import RUNNING, SETTLED, TRANSITIONS, Event, State

LEGAL = {
    State.WAITING: {Event.DUE, Event.STOP},
    State.STARTING: {Event.ANSWERED, Event.COMPLETED, Event.EXITED, Event.STOP},
    State.READY: {Event.EXITED, Event.STOP},
    State.DONE: {Event.STOP},
    State.BACKOFF: {Event.DUE, Event.STOP},
    State.STOPPING: {Event.EXITED},
    State.STOPPED: set(),
}


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("event", Event)
def test_every_pair_of_state_and_event_has_at_most_one_transition(
    state: State, event: Event
) -> None:
    assert ((state, event) in TRANSITIONS) == (event in LEGAL[state])


def test_stop_leads_from_every_running_state_to_stopping() -> None:
    for state in RUNNING - {State.STOPPING}:
        assert TRANSITIONS[state, Event.STOP] is State.STOPPING


def test_no_transition_leaves_stopped() -> None:
    assert not [pair for pair in TRANSITIONS if pair[0] is State.STOPPED]


def test_settled_states_are_not_stopping_states() -> None:
    assert not SETTLED & {
        State.WAITING,
        State.STARTING,
        State.BACKOFF,
        State.STOPPING,
        State.STOPPED,
    }
