"""Who has to go for others, among those that never asked anything."""

from types import SimpleNamespace
from typing import Any

from brokerd.server.network.silent_connections import FIRST_REQUEST_S, SilentConnections

LATER_S = 1000.0


def connection(
    silent_connections: SilentConnections, came_at_s: float, listener: str = "OUT"
) -> Any:
    class Silent(SimpleNamespace):
        __hash__ = object.__hash__

    made: Any = Silent(listener=listener, has_asked=False, awaits_client=True)
    silent_connections.add(made, came_at_s)
    return made


def test_the_first_goes_first_and_who_has_asked_stays() -> None:
    silent_connections = SilentConnections()
    first, second, third = (connection(silent_connections, at) for at in (0.0, 1.0, 2.0))
    assert silent_connections.to_end(LATER_S) is first
    first.has_asked = True
    assert silent_connections.to_end(LATER_S) is second
    silent_connections.discard(second)
    assert silent_connections.to_end(LATER_S) is third
    third.has_asked = True
    assert silent_connections.to_end(LATER_S) is None
    assert silent_connections.wait_s(LATER_S) is None
    silent_connections.discard(first)


def test_of_all_listeners_the_first_goes_and_of_one_its_own() -> None:
    silent_connections = SilentConnections()
    outer, inner = connection(silent_connections, 1.0), connection(silent_connections, 0.0, "IN")
    assert silent_connections.to_end(LATER_S) is inner
    assert silent_connections.to_end(LATER_S, "OUT") is outer
    assert silent_connections.to_end(LATER_S, "OTHER") is None


def test_each_has_some_time_for_its_first_request() -> None:
    silent_connections = SilentConnections()
    first = connection(silent_connections, 10.0)
    assert silent_connections.to_end(10.0) is None
    assert silent_connections.wait_s(10.0) == FIRST_REQUEST_S
    assert silent_connections.to_end(10.0 + FIRST_REQUEST_S) is first
    assert silent_connections.wait_s(10.0 + FIRST_REQUEST_S) == 0.0


def test_of_whom_the_broker_reads_nothing_gets_time_once_more() -> None:
    silent_connections = SilentConnections()
    held, other = connection(silent_connections, 0.0), connection(silent_connections, 1.0)
    held.awaits_client = False
    assert silent_connections.to_end(LATER_S) is other
    silent_connections.discard(other)
    assert silent_connections.wait_s(LATER_S) == FIRST_REQUEST_S
    held.awaits_client = True
    assert silent_connections.to_end(LATER_S + FIRST_REQUEST_S) is held
