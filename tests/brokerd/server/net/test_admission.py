"""Who may come in, and when: limits by address, in all, and by second."""

import pytest

from brokerd.server.net.admission import (
    Admission,
    descriptors_for_connections,
    limits_by_address,
)

MANY = 1_000_000


def admission(most: int = MANY, per_host: int = MANY, rate: float = MANY) -> Admission:
    made = Admission(descriptors=MANY)
    made.limit(most, per_host, {"10.0.0.9": 1}, rate)
    return made


def test_an_address_has_its_limit_and_some_have_their_own() -> None:
    door = admission(per_host=2)
    assert [door.admit("10.0.0.1") for _ in range(3)] == [True, True, False]
    assert [door.admit("10.0.0.9") for _ in range(2)] == [True, False]
    door.leave("10.0.0.1")
    assert door.admit("10.0.0.1")
    assert door.open == 3


def test_all_together_have_a_limit_that_may_change() -> None:
    door = admission(most=2)
    door.admit("a")
    assert not door.is_full
    door.admit("b")
    assert door.is_full
    door.limit(3, MANY, {}, MANY)
    assert not door.is_full


def test_there_are_no_more_connections_than_descriptors() -> None:
    door = Admission(descriptors=1)
    door.limit(MANY, MANY, {}, MANY)
    door.admit("a")
    assert door.is_full


def test_a_second_s_worth_comes_at_once_and_the_rest_at_the_rate() -> None:
    door = admission(rate=10)
    now = 100.0
    for _ in range(10):
        assert door.delay_s(now) == 0
        door.admit("a")
    assert door.delay_s(now) == pytest.approx(0.1)
    assert door.delay_s(now + 0.1) == pytest.approx(0)
    door.admit("a")
    assert door.delay_s(now + 0.1) == pytest.approx(0.1)
    assert door.delay_s(now + 3600) == 0


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
