"""Deadlines on a heap that learns late of later times."""

from brokerd.coordinator.group.coordinator_timer import CoordinatorTimer, Deadline, Timer

A = Deadline(Timer.SESSION, "g", "a")
B = Deadline(Timer.SESSION, "g", "b")


def test_the_earliest_falls_due_first_and_once() -> None:
    deadlines = CoordinatorTimer()
    deadlines.set(B, 20)
    deadlines.set(A, 10)
    assert deadlines.pop_due(9) is None
    assert [deadlines.pop_due(30) for _ in range(3)] == [A, B, None]


def test_a_later_time_replaces_an_earlier_one() -> None:
    deadlines = CoordinatorTimer()
    deadlines.set(A, 10)
    deadlines.set(A, 20)
    assert deadlines.pop_due(19) is None
    assert deadlines.next_ms() == 20
    assert deadlines.pop_due(20) == A
    assert deadlines.pop_due(99) is None


def test_an_earlier_time_replaces_a_later_one() -> None:
    deadlines = CoordinatorTimer()
    deadlines.set(A, 20)
    deadlines.set(A, 10)
    assert deadlines.next_ms() == 10
    assert deadlines.pop_due(10) == A
    deadlines.set(A, 20)
    assert [deadlines.pop_due(30) for _ in range(2)] == [A, None]


def test_a_cancelled_deadline_never_falls_due() -> None:
    deadlines = CoordinatorTimer()
    deadlines.set(A, 10)
    deadlines.cancel(A)
    deadlines.cancel(B)
    assert deadlines.pop_due(99) is None
    assert deadlines.next_ms() is None


def test_renewing_costs_no_further_entry() -> None:
    deadlines = CoordinatorTimer()
    for at_ms in range(1000):
        deadlines.set(A, at_ms)
    assert len(deadlines._heap) == 1
