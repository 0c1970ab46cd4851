"""Who has to go for others, among those that never asked anything."""

from types import SimpleNamespace
from typing import Any

from brokerd.server.net.newcomers import FIRST_REQUEST_S, Newcomers

LATER_S = 1000.0


def connection(newcomers: Newcomers, came_at_s: float, listener: str = "OUT") -> Any:
    class Silent(SimpleNamespace):
        __hash__ = object.__hash__

    made: Any = Silent(listener=listener, has_asked=False, awaits_client=True)
    newcomers.add(made, came_at_s)
    return made


def test_the_first_goes_first_and_who_has_asked_stays() -> None:
    newcomers = Newcomers()
    first, second, third = (connection(newcomers, at) for at in (0.0, 1.0, 2.0))
    assert newcomers.to_end(LATER_S) is first
    first.has_asked = True
    assert newcomers.to_end(LATER_S) is second
    newcomers.discard(second)
    assert newcomers.to_end(LATER_S) is third
    third.has_asked = True
    assert newcomers.to_end(LATER_S) is None
    assert newcomers.wait_s(LATER_S) is None
    newcomers.discard(first)


def test_of_all_listeners_the_first_goes_and_of_one_its_own() -> None:
    newcomers = Newcomers()
    outer, inner = connection(newcomers, 1.0), connection(newcomers, 0.0, "IN")
    assert newcomers.to_end(LATER_S) is inner
    assert newcomers.to_end(LATER_S, "OUT") is outer
    assert newcomers.to_end(LATER_S, "OTHER") is None


def test_each_has_some_time_for_its_first_request() -> None:
    newcomers = Newcomers()
    first = connection(newcomers, 10.0)
    assert newcomers.to_end(10.0) is None
    assert newcomers.wait_s(10.0) == FIRST_REQUEST_S
    assert newcomers.to_end(10.0 + FIRST_REQUEST_S) is first
    assert newcomers.wait_s(10.0 + FIRST_REQUEST_S) == 0.0


def test_of_whom_the_broker_reads_nothing_gets_time_once_more() -> None:
    newcomers = Newcomers()
    held, other = connection(newcomers, 0.0), connection(newcomers, 1.0)
    held.awaits_client = False
    assert newcomers.to_end(LATER_S) is other
    newcomers.discard(other)
    assert newcomers.wait_s(LATER_S) == FIRST_REQUEST_S
    held.awaits_client = True
    assert newcomers.to_end(LATER_S + FIRST_REQUEST_S) is held
