import pytest

from stack.lifecycle import (
    BACKOFF_MAX_MS,
    SLOW_AFTER_MS,
    STEADY_AFTER_MS,
    Action,
    Announce,
    Kill,
    Say,
    Stack,
    Start,
    Terminate,
    backoff_ms,
)
from stack.plan import GRACE_MS, Probe, ProbeKind, Role
from stack.states import State

ROLES = {
    "store": Role(0, (), Probe(ProbeKind.TCP, "1")),
    "broker": Role(1, ("store",), Probe(ProbeKind.TCP, "2")),
    "task": Role(2, (), Probe(ProbeKind.EXIT)),
    "web": Role(2, ("task", "broker"), Probe(ProbeKind.TCP, "3")),
    "extra": Role(2, ("web",), Probe(ProbeKind.TCP, "4"), waited_for=False),
}


@pytest.fixture
def stack() -> Stack:
    return Stack(ROLES, 0)


def started(actions: list[Action]) -> list[str]:
    return [action.name for action in actions if isinstance(action, Start)]


def said(actions: list[Action]) -> str:
    return "\n".join(action.text for action in actions if isinstance(action, Say))


def bring_up(stack: Stack) -> None:
    stack.advance(0)
    stack.answered("store", 10)
    stack.exited("task", 0, 20)
    stack.answered("broker", 30)
    stack.answered("web", 40)
    stack.answered("extra", 50)


def test_only_what_waits_for_nothing_starts_first(stack: Stack) -> None:
    assert started(stack.advance(0)) == ["store", "task"]
    assert started(stack.advance(100)) == []


def test_a_process_starts_as_soon_as_all_before_it_are_ready(stack: Stack) -> None:
    stack.advance(0)
    assert started(stack.answered("store", 10)) == ["broker"]
    assert started(stack.answered("broker", 20)) == []
    assert started(stack.exited("task", 0, 30)) == ["web"]


def test_ready_is_announced_once_and_does_not_wait_for_the_optional(stack: Stack) -> None:
    stack.advance(0)
    stack.answered("store", 10)
    stack.exited("task", 0, 20)
    stack.answered("broker", 30)
    assert Announce() in stack.answered("web", 40)
    assert stack.processes["extra"].state is State.STARTING
    assert Announce() not in stack.answered("extra", 50)


def test_a_dead_process_starts_again_after_its_back_off(stack: Stack) -> None:
    bring_up(stack)
    actions = stack.exited("broker", -9, 1_000)
    assert said(actions) == "broker was killed by signal 9; it starts again in 0.5 s"
    assert started(stack.advance(1_499)) == []
    assert started(stack.advance(1_500)) == ["broker"]
    actions = stack.exited("broker", 1, 2_000)
    assert said(actions) == "broker ended with status 1; it starts again in 1 s"


def test_a_return_is_said_but_ready_is_not_announced_again(stack: Stack) -> None:
    bring_up(stack)
    stack.exited("broker", -9, 1_000)
    stack.advance(2_000)
    actions = stack.answered("broker", 3_000)
    assert said(actions) == "broker is ready (1.0 s)"
    assert Announce() not in actions


def test_the_back_off_doubles_up_to_its_limit() -> None:
    assert [backoff_ms(n) for n in (1, 2, 3, 4)] == [500, 1_000, 2_000, 4_000]
    assert backoff_ms(7) == backoff_ms(10_000) == BACKOFF_MAX_MS


def test_the_back_off_begins_anew_after_a_steady_time(stack: Stack) -> None:
    bring_up(stack)
    for now_ms in range(1_000, 5_000, 1_000):
        stack.exited("broker", 1, now_ms)
        stack.processes["broker"].due_at_ms = 0
        stack.advance(now_ms)
    stack.answered("broker", 6_000)
    actions = stack.exited("broker", 1, 6_000 + STEADY_AFTER_MS)
    assert "starts again in 0.5 s" in said(actions)


def test_a_failed_task_is_tried_again(stack: Stack) -> None:
    stack.advance(0)
    assert "task ended with status 1" in said(stack.exited("task", 1, 100))
    assert started(stack.advance(600)) == ["task"]


def test_a_slow_process_is_named_once(stack: Stack) -> None:
    stack.advance(0)
    assert "store does not answer yet" in said(stack.advance(SLOW_AFTER_MS))
    assert said(stack.advance(SLOW_AFTER_MS * 2)) == ""


def test_an_answer_that_comes_after_the_death_counts_for_nothing(stack: Stack) -> None:
    bring_up(stack)
    stack.exited("web", 1, 100)
    assert stack.answered("web", 101) == []
    assert stack.processes["web"].state is State.BACKOFF


def test_a_stop_goes_stage_by_stage_in_reverse(stack: Stack) -> None:
    bring_up(stack)
    assert stack.stop(1_000) == [Terminate("web"), Terminate("extra")]
    assert stack.exited("extra", 0, 1_100) == []
    assert stack.exited("web", 0, 1_200) == [Terminate("broker")]
    assert stack.exited("broker", 0, 1_300) == [Terminate("store")]
    assert not stack.is_gone
    assert stack.exited("store", 0, 1_400) == []
    assert stack.is_gone


def test_what_does_not_stop_within_its_grace_is_killed(stack: Stack) -> None:
    bring_up(stack)
    stack.stop(1_000)
    assert stack.advance(1_000 + GRACE_MS[2] - 1) == []
    assert Kill("extra") in stack.advance(1_000 + GRACE_MS[2])


def test_all_graces_together_stay_under_ten_seconds() -> None:
    assert sum(GRACE_MS.values()) < 10_000


def test_a_process_in_back_off_is_not_started_during_a_stop(stack: Stack) -> None:
    bring_up(stack)
    stack.exited("broker", 1, 900)
    stack.stop(1_000)
    assert started(stack.advance(60_000)) == []
    assert stack.processes["broker"].state is State.GONE


def test_the_same_request_arriving_twice_is_one_request(stack: Stack) -> None:
    bring_up(stack)
    stack.stop(1_000)
    assert stack.stop(1_050) == []


def test_a_second_request_ends_everything_at_once(stack: Stack) -> None:
    bring_up(stack)
    stack.stop(1_000)
    assert set(stack.stop(3_000)) == {Kill(name) for name in ("store", "broker", "web", "extra")}


def test_a_stop_before_anything_runs_leaves_nothing_to_do() -> None:
    stack = Stack(ROLES, 0)
    assert stack.stop(0) == []
    assert stack.is_gone


def test_what_dies_or_is_killed_before_its_turn_during_a_stop_ends_it_all_the_same(
    stack: Stack,
) -> None:
    bring_up(stack)
    stack.stop(100)
    assert "starts again" not in said(stack.exited("store", 1, 110))
    assert {action.name for action in stack.stop(5_000)} == {"web", "extra", "broker"}
    for name in ("broker", "web", "extra"):
        assert "starts again" not in said(stack.exited(name, -9, 5_010))
    assert stack.is_gone
