"""A store that hangs does not keep all charts waiting."""

from console.charts.hung_store import PAUSE_S, SLOW_S, HungStore


def test_after_a_read_that_failed_late_the_store_counts_as_hung_for_a_while():
    store = HungStore()
    assert not store.is_hung(0.0)
    store.add_failure(100.0, 100.0 + SLOW_S)
    assert store.is_hung(100.0 + SLOW_S)
    assert not store.is_hung(100.0 + SLOW_S + PAUSE_S)


def test_a_read_that_failed_soon_says_nothing_of_others():
    store = HungStore()
    store.add_failure(100.0, 100.1)
    assert not store.is_hung(100.1)
