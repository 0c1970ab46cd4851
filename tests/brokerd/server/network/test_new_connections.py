"""Who has to go for others, among those that never asked anything."""

from types import SimpleNamespace
from typing import Any

from brokerd.server.network.new_connections import FIRST_REQUEST_S, NewConnections

LATER_S = 1000.0


def connection(new_connections: NewConnections, came_at_s: float, listener: str = "OUT") -> Any:
    class Silent(SimpleNamespace):
        __hash__ = object.__hash__

    made: Any = Silent(listener=listener, has_asked=False, awaits_client=True)
    new_connections.add(made, came_at_s)
    return made


def test_the_first_goes_first_and_who_has_asked_stays() -> None:
    new_connections = NewConnections()
    first, second, third = (connection(new_connections, at) for at in (0.0, 1.0, 2.0))
    assert new_connections.to_end(LATER_S) is first
    first.has_asked = True
    assert new_connections.to_end(LATER_S) is second
    new_connections.discard(second)
    assert new_connections.to_end(LATER_S) is third
    third.has_asked = True
    assert new_connections.to_end(LATER_S) is None
    assert new_connections.wait_s(LATER_S) is None
    new_connections.discard(first)


def test_of_all_listeners_the_first_goes_and_of_one_its_own() -> None:
    new_connections = NewConnections()
    outer, inner = connection(new_connections, 1.0), connection(new_connections, 0.0, "IN")
    assert new_connections.to_end(LATER_S) is inner
    assert new_connections.to_end(LATER_S, "OUT") is outer
    assert new_connections.to_end(LATER_S, "OTHER") is None


def test_each_has_some_time_for_its_first_request() -> None:
    new_connections = NewConnections()
    first = connection(new_connections, 10.0)
    assert new_connections.to_end(10.0) is None
    assert new_connections.wait_s(10.0) == FIRST_REQUEST_S
    assert new_connections.to_end(10.0 + FIRST_REQUEST_S) is first
    assert new_connections.wait_s(10.0 + FIRST_REQUEST_S) == 0.0


def test_of_whom_the_broker_reads_nothing_gets_time_once_more() -> None:
    new_connections = NewConnections()
    held, other = connection(new_connections, 0.0), connection(new_connections, 1.0)
    held.awaits_client = False
    assert new_connections.to_end(LATER_S) is other
    new_connections.discard(other)
    assert new_connections.wait_s(LATER_S) == FIRST_REQUEST_S
    held.awaits_client = True
    assert new_connections.to_end(LATER_S + FIRST_REQUEST_S) is held
