from monitoring.alerts.lag_condition import (
    Condition,
    LagReading,
    Observation,
    Subject,
    observe,
    subjects_over_threshold,
)

CONDITION = Condition(group_pattern="orders-*", topic_pattern="", threshold=100, for_ms=10_000)


def test_an_incomplete_sum_may_be_over_but_never_under():
    def seen(reading):
        return observe(CONDITION, reading, groups_complete=True)

    assert seen(LagReading(101, complete=False)) is Observation.OVER
    assert seen(LagReading(99, complete=False)) is Observation.UNKNOWN
    assert seen(LagReading(99, complete=True)) is Observation.UNDER


def test_patterns_choose_groups_and_topics():
    over = LagReading(500, True)
    readings = dict.fromkeys(
        [Subject("orders-a", "x.1"), Subject("orders-a", "y"), Subject("other", "x.1")], over
    )
    condition = Condition("orders-*", "x.*", 100, for_ms=0)
    found = subjects_over_threshold(condition, readings, frozenset())
    assert list(found) == [Subject("orders-a", "x.1")]
