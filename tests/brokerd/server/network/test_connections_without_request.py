"""Who has to go for others, among those that never asked anything."""

from types import SimpleNamespace
from typing import Any

from brokerd.server.network.connections_without_request import (
    FIRST_REQUEST_S,
    ConnectionsWithoutRequest,
)

LATER_S = 1000.0


def connection(waiting: ConnectionsWithoutRequest, came_at_s: float, listener: str = "OUT") -> Any:
    class Silent(SimpleNamespace):
        __hash__ = object.__hash__

    made: Any = Silent(listener=listener, has_asked=False, awaits_client=True)
    waiting.add(made, came_at_s)
    return made


def test_the_first_goes_first_and_who_has_asked_stays() -> None:
    waiting = ConnectionsWithoutRequest()
    first, second, third = (connection(waiting, at) for at in (0.0, 1.0, 2.0))
    assert waiting.to_end(LATER_S) is first
    first.has_asked = True
    assert waiting.to_end(LATER_S) is second
    waiting.discard(second)
    assert waiting.to_end(LATER_S) is third
    third.has_asked = True
    assert waiting.to_end(LATER_S) is None
    assert waiting.wait_s(LATER_S) is None
    waiting.discard(first)


def test_of_all_listeners_the_first_goes_and_of_one_its_own() -> None:
    waiting = ConnectionsWithoutRequest()
    outer, inner = connection(waiting, 1.0), connection(waiting, 0.0, "IN")
    assert waiting.to_end(LATER_S) is inner
    assert waiting.to_end(LATER_S, "OUT") is outer
    assert waiting.to_end(LATER_S, "OTHER") is None


def test_each_has_some_time_for_its_first_request() -> None:
    waiting = ConnectionsWithoutRequest()
    first = connection(waiting, 10.0)
    assert waiting.to_end(10.0) is None
    assert waiting.wait_s(10.0) == FIRST_REQUEST_S
    assert waiting.to_end(10.0 + FIRST_REQUEST_S) is first
    assert waiting.wait_s(10.0 + FIRST_REQUEST_S) == 0.0


def test_of_whom_the_broker_reads_nothing_gets_time_once_more() -> None:
    waiting = ConnectionsWithoutRequest()
    held, other = connection(waiting, 0.0), connection(waiting, 1.0)
    held.awaits_client = False
    assert waiting.to_end(LATER_S) is other
    waiting.discard(other)
    assert waiting.wait_s(LATER_S) == FIRST_REQUEST_S
    held.awaits_client = True
    assert waiting.to_end(LATER_S + FIRST_REQUEST_S) is held
