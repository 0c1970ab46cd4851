"""Who may come in, and when: limits by address, in all, and by second; who has to go for others."""

from types import SimpleNamespace
from typing import Any

import pytest

from brokerd.config.listeners import ConnectionLimits
from brokerd.server.network.connection_quotas import (
    FIRST_REQUEST_S,
    ConnectionQuotas,
    ConnectionsWithoutRequest,
    descriptors_for_connections,
    limits_by_address,
)

MANY = 1_000_000
IN, OUT = "IN", "OUT"
LATER_S = 1000.0
FREE = ConnectionLimits(MANY, MANY)


def quotas(
    of_all: ConnectionLimits = FREE,
    of_out: ConnectionLimits = FREE,
    per_host: int = MANY,
    descriptors: int = MANY,
) -> ConnectionQuotas:
    made = ConnectionQuotas(descriptors)
    made.limit(of_all, {IN: FREE, OUT: of_out}, per_host, {"10.0.0.9": 1})
    return made


def come(quotas_: ConnectionQuotas, host: str = "a", listener: str = OUT) -> bool:
    return quotas_.admit(host, listener, is_protected=listener == IN)


def delay_s(quotas_: ConnectionQuotas, now_s: float, listener: str = OUT) -> float:
    return quotas_.delay_s(now_s, listener, is_protected=listener == IN)


def test_an_address_has_its_limit_and_some_have_their_own() -> None:
    quotas_ = quotas(per_host=2)
    assert [come(quotas_, "10.0.0.1") for _ in range(3)] == [True, True, False]
    assert [come(quotas_, "10.0.0.9") for _ in range(2)] == [True, False]
    quotas_.leave("10.0.0.1", OUT)
    assert come(quotas_, "10.0.0.1")
    assert quotas_.open == 3


def test_all_together_have_a_limit_that_may_change() -> None:
    quotas_ = quotas(ConnectionLimits(2, MANY))
    come(quotas_)
    assert not quotas_.is_full
    come(quotas_, listener=IN)
    assert quotas_.is_full
    quotas_.limit(ConnectionLimits(3, MANY), {IN: FREE, OUT: FREE}, MANY, {})
    assert not quotas_.is_full


def test_a_listener_has_a_limit_of_its_own() -> None:
    quotas_ = quotas(of_out=ConnectionLimits(1, MANY))
    come(quotas_)
    come(quotas_, listener=IN)
    assert (quotas_.is_listener_full(OUT), quotas_.is_listener_full(IN)) == (True, False)
    assert (quotas_.open_on(OUT), quotas_.is_full) == (1, False)
    quotas_.leave("a", OUT)
    assert not quotas_.is_listener_full(OUT)


def test_there_are_no_more_connections_than_descriptors() -> None:
    quotas_ = quotas(descriptors=1)
    come(quotas_)
    assert quotas_.is_full


@pytest.mark.parametrize("where", ["of_all", "of_out"])
def test_a_second_s_worth_comes_at_once_and_the_rest_at_the_rate(where: str) -> None:
    quotas_ = quotas(**{where: ConnectionLimits(MANY, 10)})
    now = 100.0
    for _ in range(10):
        assert delay_s(quotas_, now) == 0
        come(quotas_)
    assert delay_s(quotas_, now) == pytest.approx(0.1)
    assert delay_s(quotas_, now, IN) == 0, "what all may have is not held against brokers"
    assert delay_s(quotas_, now + 0.1) == pytest.approx(0)
    come(quotas_)
    assert delay_s(quotas_, now + 0.1) == pytest.approx(0.1)
    assert delay_s(quotas_, now + 3600) == 0


def test_overrides_name_addresses_or_hosts() -> None:
    found = limits_by_address("127.0.0.2:5, localhost:7,[::1]:9,")
    assert found["127.0.0.2"] == 5
    assert found["127.0.0.1"] == 7
    assert found["::1"] == 9
    with pytest.raises(ValueError, match=r"no\.such\.host\.invalid is not found"):
        limits_by_address("no.such.host.invalid:5")


def test_log_files_keep_descriptors_for_themselves() -> None:
    assert descriptors_for_connections(20_000, files=4096) == 20_000 - 4096 - 64
    assert descriptors_for_connections(1024, files=4096) == 1024 - 512 - 64


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
