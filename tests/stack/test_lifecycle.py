import pytest

from stack.lifecycle import (
    BACKOFF_MAX_MS,
    SLOW_AFTER_MS,
    STABLE_AFTER_MS,
    Action,
    AnnounceReady,
    Kill,
    PrintLine,
    Stack,
    Start,
    Terminate,
    backoff_ms,
)
from stack.process_states import State
from stack.process_table import GRACE_MS, Probe, ProbeKind, Role

ROLES = {
    "store": Role(0, (), Probe(ProbeKind.TCP, "1")),
    "broker": Role(1, ("store",), Probe(ProbeKind.TCP, "2")),
    "task": Role(2, (), Probe(ProbeKind.EXIT)),
    "web": Role(2, ("task", "broker"), Probe(ProbeKind.TCP, "3")),
    "extra": Role(2, ("web",), Probe(ProbeKind.TCP, "4"), is_required=False),
}


@pytest.fixture
def stack() -> Stack:
    return Stack(ROLES, 0)


def started(actions: list[Action]) -> list[str]:
    return [action.name for action in actions if isinstance(action, Start)]


def printed(actions: list[Action]) -> str:
    return "\n".join(action.text for action in actions if isinstance(action, PrintLine))


def bring_up(stack: Stack) -> None:
    stack.advance(0)
    stack.answered("store", 10)
    stack.exited("task", 0, 20)
    stack.answered("broker", 30)
    stack.answered("web", 40)
    stack.answered("extra", 50)


def test_processes_without_dependencies_start_first(stack: Stack) -> None:
    assert started(stack.advance(0)) == ["store", "task"]
    assert started(stack.advance(100)) == []


def test_a_process_starts_when_its_dependencies_are_ready(stack: Stack) -> None:
    stack.advance(0)
    assert started(stack.answered("store", 10)) == ["broker"]
    assert started(stack.answered("broker", 20)) == []
    assert started(stack.exited("task", 0, 30)) == ["web"]


def test_ready_is_announced_once_and_waits_for_required_processes_only(stack: Stack) -> None:
    stack.advance(0)
    stack.answered("store", 10)
    stack.exited("task", 0, 20)
    stack.answered("broker", 30)
    assert AnnounceReady() in stack.answered("web", 40)
    assert stack.processes["extra"].state is State.STARTING
    assert AnnounceReady() not in stack.answered("extra", 50)


def test_a_dead_process_restarts_after_its_backoff(stack: Stack) -> None:
    bring_up(stack)
    actions = stack.exited("broker", -9, 1_000)
    assert printed(actions) == "broker was killed by signal 9; restarting in 0.5 s"
    assert started(stack.advance(1_499)) == []
    assert started(stack.advance(1_500)) == ["broker"]
    actions = stack.exited("broker", 1, 2_000)
    assert printed(actions) == "broker ended with status 1; restarting in 1 s"


def test_a_restart_is_printed_but_ready_is_not_announced_again(stack: Stack) -> None:
    bring_up(stack)
    stack.exited("broker", -9, 1_000)
    stack.advance(2_000)
    actions = stack.answered("broker", 3_000)
    assert printed(actions) == "broker is ready (1.0 s)"
    assert AnnounceReady() not in actions


def test_the_backoff_doubles_up_to_its_limit() -> None:
    assert [backoff_ms(n) for n in (1, 2, 3, 4)] == [500, 1_000, 2_000, 4_000]
    assert backoff_ms(7) == backoff_ms(10_000) == BACKOFF_MAX_MS


def test_the_backoff_starts_again_after_a_stable_run(stack: Stack) -> None:
    bring_up(stack)
    for now_ms in range(1_000, 5_000, 1_000):
        stack.exited("broker", 1, now_ms)
        stack.processes["broker"].due_at_ms = 0
        stack.advance(now_ms)
    stack.answered("broker", 6_000)
    actions = stack.exited("broker", 1, 6_000 + STABLE_AFTER_MS)
    assert "restarting in 0.5 s" in printed(actions)


def test_a_failed_task_is_retried(stack: Stack) -> None:
    stack.advance(0)
    assert "task ended with status 1" in printed(stack.exited("task", 1, 100))
    assert started(stack.advance(600)) == ["task"]


def test_a_slow_process_is_reported_once(stack: Stack) -> None:
    stack.advance(0)
    assert "store does not answer yet" in printed(stack.advance(SLOW_AFTER_MS))
    assert printed(stack.advance(SLOW_AFTER_MS * 2)) == ""


def test_a_probe_result_after_the_exit_is_ignored(stack: Stack) -> None:
    bring_up(stack)
    stack.exited("web", 1, 100)
    assert stack.answered("web", 101) == []
    assert stack.processes["web"].state is State.BACKOFF


def test_a_stop_ends_the_highest_stage_first(stack: Stack) -> None:
    bring_up(stack)
    assert stack.stop(1_000) == [Terminate("web"), Terminate("extra")]
    assert stack.exited("extra", 0, 1_100) == []
    assert stack.exited("web", 0, 1_200) == [Terminate("broker")]
    assert stack.exited("broker", 0, 1_300) == [Terminate("store")]
    assert not stack.is_stopped
    assert stack.exited("store", 0, 1_400) == []
    assert stack.is_stopped


def test_a_process_that_does_not_stop_in_time_is_killed(stack: Stack) -> None:
    bring_up(stack)
    stack.stop(1_000)
    assert stack.advance(1_000 + GRACE_MS[2] - 1) == []
    assert Kill("extra") in stack.advance(1_000 + GRACE_MS[2])


def test_the_grace_periods_add_up_to_less_than_ten_seconds() -> None:
    assert sum(GRACE_MS.values()) < 10_000


def test_a_process_in_backoff_is_not_started_during_a_stop(stack: Stack) -> None:
    bring_up(stack)
    stack.exited("broker", 1, 900)
    stack.stop(1_000)
    assert started(stack.advance(60_000)) == []
    assert stack.processes["broker"].state is State.STOPPED


def test_a_stop_request_that_arrives_twice_counts_once(stack: Stack) -> None:
    bring_up(stack)
    stack.stop(1_000)
    assert stack.stop(1_050) == []


def test_a_second_stop_request_kills_everything(stack: Stack) -> None:
    bring_up(stack)
    stack.stop(1_000)
    assert set(stack.stop(3_000)) == {Kill(name) for name in ("store", "broker", "web", "extra")}


def test_a_stop_before_the_first_start_is_finished_at_once() -> None:
    stack = Stack(ROLES, 0)
    assert stack.stop(0) == []
    assert stack.is_stopped


def test_a_stop_completes_even_if_processes_end_before_their_stage(
    stack: Stack,
) -> None:
    bring_up(stack)
    stack.stop(100)
    assert "restarting" not in printed(stack.exited("store", 1, 110))
    assert {action.name for action in stack.stop(5_000)} == {"web", "extra", "broker"}
    for name in ("broker", "web", "extra"):
        assert "restarting" not in printed(stack.exited(name, -9, 5_010))
    assert stack.is_stopped


def test_a_process_that_is_restarted_starts_at_once_and_is_no_failure(stack: Stack) -> None:
    bring_up(stack)
    assert stack.restart("broker", "is large") == [
        PrintLine("broker is large; restarting it"), Terminate("broker")
    ]  # fmt: skip
    assert stack.exited("broker", 143, 1_000) == [Start("broker")]
    stack.answered("broker", 2_000)
    assert "restarting in 0.5 s" in printed(stack.exited("broker", 1, 2_100))


def test_a_process_that_does_not_end_for_its_restart_is_killed(stack: Stack) -> None:
    bring_up(stack)
    stack.restart("broker", "is large")
    assert Kill("broker") in stack.restart("broker", "is large")


def test_only_what_is_ready_is_restarted(stack: Stack) -> None:
    stack.advance(0)
    assert stack.restart("store", "is large") == []
    bring_up(stack)
    stack.restart("broker", "is large")
    stack.stop(1_000)
    assert stack.restart("broker", "is large") == []
