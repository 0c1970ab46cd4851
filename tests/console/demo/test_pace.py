import pytest

from console.demo.pace import (
    CATCH_UP_PHASE_MS,
    OFF_PHASE_MS,
    ON_PHASE_MS,
    RATE_MAX,
    SLOW_PHASE_MS,
    Pacer,
    is_on,
    slow_rate,
    split_rate,
)


@pytest.mark.parametrize("rate", [10, 50, 333, 2_000])
def test_the_rate_is_met_exactly_over_time(rate: int) -> None:
    pacer = Pacer(rate, 0)
    sent = sum(pacer.due(now_ms) for now_ms in range(0, 60_001, 70))
    assert abs(sent - rate * 60) <= rate * 0.07 + 1


def test_a_stalled_sender_catches_up_one_second_at_most() -> None:
    pacer = Pacer(100, 0)
    assert pacer.due(3_600_000) == 100


def test_a_clock_that_goes_back_sends_nothing() -> None:
    pacer = Pacer(100, 10_000)
    assert pacer.due(5_000) == 0
    assert pacer.due(6_000) == 100


@pytest.mark.parametrize(
    ("wanted", "real", "load"), [(10, 10, 0), (RATE_MAX, RATE_MAX, 0), (5_000, RATE_MAX, 3_000)]
)
def test_what_exceeds_the_real_records_is_load(wanted: int, real: int, load: int) -> None:
    assert split_rate(wanted) == (real, load)


def test_the_slow_group_falls_behind_and_then_catches_up_wholly() -> None:
    lag, largest = 0.0, 0.0
    for second in range((SLOW_PHASE_MS + CATCH_UP_PHASE_MS) // 1000):
        lag = max(lag + 50 - slow_rate(50, second * 1000), 0)
        largest = max(largest, lag)
    assert largest > 1_000
    assert lag == 0


def test_the_group_that_comes_and_goes_does_both_again_and_again() -> None:
    assert [is_on(at) for at in (0, ON_PHASE_MS - 1, ON_PHASE_MS)] == [True, True, False]
    assert is_on(ON_PHASE_MS + OFF_PHASE_MS)
