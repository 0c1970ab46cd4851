import pytest

from stack.demo.groups import SlowGroupLimit
from stack.demo.rates import (
    CATCH_UP_PHASE_MS,
    OFF_PHASE_MS,
    ON_PHASE_MS,
    RATE_MAX,
    RATE_MIN,
    SLOW_PHASE_MS,
    RateLimiter,
    cpu_every_s,
    is_active,
    split_rate,
)


@pytest.mark.parametrize("rate", [10, 50, 333, 2_000])
def test_the_average_rate_is_exact(rate: int) -> None:
    limiter = RateLimiter(rate, 0)
    sent = sum(limiter.due(now_ms) for now_ms in range(0, 60_001, 70))
    assert abs(sent - rate * 60) <= rate * 0.07 + 1


def test_a_stalled_sender_catches_up_at_most_one_second() -> None:
    limiter = RateLimiter(100, 0)
    assert limiter.due(3_600_000) == 100


def test_a_clock_that_goes_back_sends_nothing() -> None:
    limiter = RateLimiter(100, 10_000)
    assert limiter.due(5_000) == 0
    assert limiter.due(6_000) == 100


@pytest.mark.parametrize(
    ("wanted", "real", "load"), [(10, 10, 0), (RATE_MAX, RATE_MAX, 0), (5_000, RATE_MAX, 3_000)]
)
def test_the_only_sender_sends_real_records_and_the_rest_as_load(
    wanted: int, real: int, load: int
) -> None:
    assert split_rate(wanted, is_only_sender=True) == (real, load)


@pytest.mark.parametrize("wanted", [10, RATE_MAX, 5_000])
def test_beside_a_running_stack_all_records_are_load(wanted: int) -> None:
    assert split_rate(wanted, is_only_sender=False) == (0, wanted)


@pytest.mark.parametrize(("rate", "cpus"), [(10, 2), (10, 64), (50, 64), (2_000, 256)])
def test_cpu_samples_are_at_most_a_fifth_of_the_rate(rate: int, cpus: int) -> None:
    every_s = cpu_every_s(rate, cpus)
    assert every_s >= 1
    assert cpus / every_s <= rate / 5


@pytest.mark.parametrize("rate", [RATE_MIN, 50, 500, RATE_MAX])
@pytest.mark.parametrize("turn_ms", [1, 7, 500])
def test_the_slow_group_falls_behind_and_then_catches_up(rate: int, turn_ms: int) -> None:
    """As groups.Member asks: again at once after records, after a turn when none were allowed."""
    sent, read, largest, now_ms = 0.0, 0, 0.0, 0
    pace = SlowGroupLimit(rate, 0)
    while now_ms < SLOW_PHASE_MS + CATCH_UP_PHASE_MS:
        allowed = pace(now_ms)
        now_ms += turn_ms if allowed else 500
        sent = rate * now_ms / 1000
        read += min(allowed, int(sent) - read)
        largest = max(largest, sent - read)
    assert largest > 0.5 * rate * SLOW_PHASE_MS / 1000
    assert sent - read <= rate


def test_the_on_off_group_stops_and_starts_repeatedly() -> None:
    assert [is_active(at) for at in (0, ON_PHASE_MS - 1, ON_PHASE_MS)] == [True, True, False]
    assert is_active(ON_PHASE_MS + OFF_PHASE_MS)
