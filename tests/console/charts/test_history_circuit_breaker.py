"""A store that hangs does not keep all charts waiting."""

from console.charts.history_circuit_breaker import PAUSE_S, SLOW_S, HistoryCircuitBreaker


def test_after_a_read_that_failed_late_the_breaker_is_open_for_a_while():
    breaker = HistoryCircuitBreaker()
    assert not breaker.is_open(0.0)
    breaker.add_failure(100.0, 100.0 + SLOW_S)
    assert breaker.is_open(100.0 + SLOW_S)
    assert not breaker.is_open(100.0 + SLOW_S + PAUSE_S)


def test_a_read_that_failed_soon_says_nothing_of_others():
    breaker = HistoryCircuitBreaker()
    breaker.add_failure(100.0, 100.1)
    assert not breaker.is_open(100.1)
