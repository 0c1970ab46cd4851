"""Who may come in, and when: limits by address, in all, and by second."""

import pytest

from brokerd.config.listeners import ConnectionLimits
from brokerd.server.network.admission import (
    Admission,
    descriptors_for_connections,
    limits_by_address,
)

MANY = 1_000_000
IN, OUT = "IN", "OUT"
FREE = ConnectionLimits(MANY, MANY)


def admission(
    of_all: ConnectionLimits = FREE,
    of_out: ConnectionLimits = FREE,
    per_host: int = MANY,
    descriptors: int = MANY,
) -> Admission:
    made = Admission(descriptors)
    made.limit(of_all, {IN: FREE, OUT: of_out}, per_host, {"10.0.0.9": 1})
    return made


def come(door: Admission, host: str = "a", listener: str = OUT) -> bool:
    return door.admit(host, listener, is_protected=listener == IN)


def delay_s(door: Admission, now_s: float, listener: str = OUT) -> float:
    return door.delay_s(now_s, listener, is_protected=listener == IN)


def test_an_address_has_its_limit_and_some_have_their_own() -> None:
    door = admission(per_host=2)
    assert [come(door, "10.0.0.1") for _ in range(3)] == [True, True, False]
    assert [come(door, "10.0.0.9") for _ in range(2)] == [True, False]
    door.leave("10.0.0.1", OUT)
    assert come(door, "10.0.0.1")
    assert door.open == 3


def test_all_together_have_a_limit_that_may_change() -> None:
    door = admission(ConnectionLimits(2, MANY))
    come(door)
    assert not door.is_full
    come(door, listener=IN)
    assert door.is_full
    door.limit(ConnectionLimits(3, MANY), {IN: FREE, OUT: FREE}, MANY, {})
    assert not door.is_full


def test_a_listener_has_a_limit_of_its_own() -> None:
    door = admission(of_out=ConnectionLimits(1, MANY))
    come(door)
    come(door, listener=IN)
    assert (door.is_listener_full(OUT), door.is_listener_full(IN)) == (True, False)
    assert (door.open_on(OUT), door.is_full) == (1, False)
    door.leave("a", OUT)
    assert not door.is_listener_full(OUT)


def test_there_are_no_more_connections_than_descriptors() -> None:
    door = admission(descriptors=1)
    come(door)
    assert door.is_full


@pytest.mark.parametrize("where", ["of_all", "of_out"])
def test_a_second_s_worth_comes_at_once_and_the_rest_at_the_rate(where: str) -> None:
    door = admission(**{where: ConnectionLimits(MANY, 10)})
    now = 100.0
    for _ in range(10):
        assert delay_s(door, now) == 0
        come(door)
    assert delay_s(door, now) == pytest.approx(0.1)
    assert delay_s(door, now, IN) == 0, "what all may have is not held against brokers"
    assert delay_s(door, now + 0.1) == pytest.approx(0)
    come(door)
    assert delay_s(door, now + 0.1) == pytest.approx(0.1)
    assert delay_s(door, now + 3600) == 0


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
