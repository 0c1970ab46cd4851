"""The input of alert rules from a tick."""

from monitoring.alerts.lag_condition import Subject
from monitoring.alerts.lags_for_rules import rule_input_of
from monitoring.scope import Scope
from tests.monitoring.tick_factory import make_tick

PUBLIC = Scope(hidden_topics=frozenset({"console.audit"}))


def tick_of(*reads):
    """A tick in which groups lag behind on existing topics: (group, topic, lag) …"""
    rows = [
        {"group": group, "topic": topic, "partition": 0, "committed_offset": 0,
         "log_end_offset": lag}
        for group, topic, lag in reads
    ]  # fmt: skip
    topics = {topic for _, topic, _ in reads if topic}
    partitions = [{"topic": topic, "partition": 0} for topic in sorted(topics)]
    return make_tick(1, partitions=partitions, groups=rows)


def test_a_group_that_reads_only_hidden_topics_is_not_seen():
    tick = tick_of(("auditors", "console.audit", 99))
    rule_input = rule_input_of(tick, PUBLIC, with_topics=False)
    assert rule_input.groups == {}


def test_hidden_topics_are_in_no_sum_of_a_group():
    tick = tick_of(("g", "console.audit", 99), ("g", "orders", 7), ("empty", None, None))
    rule_input = rule_input_of(tick, PUBLIC, with_topics=False)
    assert {subject.group: told.lag for subject, told in rule_input.groups.items()} == {
        "g": 7,
        "empty": None,
    }


def test_a_rule_with_the_full_name_of_a_hidden_topic_matches_it():
    rule_input = rule_input_of(tick_of(("auditors", "console.audit", 99)), PUBLIC, with_topics=True)
    assert rule_input.topics[Subject("auditors", "console.audit")].lag == 99
