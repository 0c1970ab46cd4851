"""Rows and sums of snapshots, from ticks made in memory."""

import pytest

from monitoring.lag.lag_state import LagState
from monitoring.partial_sum import PartialSum
from monitoring.read_model import group_rows, lag_rows, snapshot
from monitoring.read_model.row_types import LastRecord
from monitoring.read_model.snapshot import Snapshot
from monitoring.scope import Scope
from tests.monitoring.tick_factory import make_tick

FULL = {
    "leader": 1, "replicas": [1, 2], "isr": [1, 2], "log_start_offset": 10, "log_end_offset": 110,
    "size_bytes": 1000, "replicas_size_bytes": 2000, "replicas_reported": 2, "bytes_in": 500,
    "bytes_out": 700,
}  # fmt: skip


def part(topic, partition, **changes):
    return {"topic": topic, "partition": partition} | FULL | changes


def commit(group, topic, partition, committed, end, **more):
    return {
        "group": group, "state": "Stable", "protocol_type": "consumer", "coordinator": 1,
        "members": 1, "topic": topic, "partition": partition, "committed_offset": committed,
        "log_end_offset": end, **more,
    }  # fmt: skip


def test_a_topic_sums_its_partitions():
    tick = make_tick(2, partitions=[part("a", 0), part("a", 1, isr=[1]), part("b", 0, leader=-1)])
    a, b = Snapshot.of(tick, None).topics
    assert (a.partitions, a.replication) == (2, 2)
    assert (a.offset_count.value_if_complete, a.size_bytes.value_if_complete) == (200, 2000)
    assert (a.under_replicated, a.offline, b.offline) == (1, 0, 1)


def test_a_sum_without_known_parts_is_none_and_not_zero():
    tick = make_tick(2, partitions=[part("a", 0, size_bytes=None, log_end_offset=None)])
    row = Snapshot.of(tick, None).topics[0]
    sums = (row.size_bytes, row.offset_count, row.messages_rate)
    assert [sum.value for sum in sums] == [None] * 3


def test_a_rate_is_the_growth_since_the_tick_before():
    before = make_tick(1, partitions=[part("a", 0), part("a", 1)])
    now = make_tick(2, partitions=[part("a", 0, log_end_offset=160, bytes_in=1500), part("a", 1)])
    row = Snapshot.of(now, before).topics[0]
    rates = (row.messages_rate, row.bytes_in_rate, row.bytes_out_rate)
    assert [rate.value_if_complete for rate in rates] == [10.0, 200.0, 0.0]


def test_a_missed_tick_does_not_double_the_rate():
    before = make_tick(1, partitions=[part("a", 0)])
    now = make_tick(3, partitions=[part("a", 0, log_end_offset=210)])
    assert Snapshot.of(now, before).topics[0].messages_rate.value == 10.0


def test_a_decreased_counter_and_a_new_partition_have_no_rate():
    before = make_tick(1, partitions=[part("a", 0)])
    now = make_tick(2, partitions=[part("a", 0, log_end_offset=5), part("a", 1), part("n", 0)])
    a, n = Snapshot.of(now, before).topics
    assert (a.messages_rate.value, n.messages_rate.value) == (None, None)


def test_partitions_are_matched_by_name_in_any_order():
    before = make_tick(1, partitions=[part("b", 0), part("a", 0), part("gone", 7)])
    now = make_tick(
        2, partitions=[part("a", 0, log_end_offset=115), part("b", 0, log_end_offset=160)]
    )
    assert [row.messages_rate.value for row in Snapshot.of(now, before).topics] == [1.0, 10.0]


def test_a_hidden_topic_is_in_no_row_and_in_no_sum():
    tick = make_tick(
        2,
        partitions=[part("a", 0), part("console.audit", 0)],
        groups=[commit("g", "a", 0, 100, 110), commit("h", "console.audit", 0, 0, 110)],
    )
    shown = Snapshot.of(tick, None, Scope(topics=("a",)))
    assert [row.name for row in shown.topics] == ["a"]
    assert [row.name for row in shown.groups] == ["g"]
    assert (shown.totals.disk_bytes.value, shown.totals.lag.value) == (2000, 10)
    assert shown.partitions("console.audit") == []
    assert shown.lags(topic="console.audit") == []


def test_commits_of_a_partition_are_those_of_groups_within_the_scope():
    tick = make_tick(
        2,
        partitions=[part("a", 0), part("a", 1)],
        groups=[
            commit("g", "a", 0, 5, 10),
            commit("g", "a", 1, 6, 10),
            commit("h", "a", 0, 7, 10),
            commit("none", "a", 0, None, 10),
            commit("g", "b", 0, 8, 10),
        ],
    )
    assert sorted(Snapshot.of(tick).commits("a", 0)) == [("g", 5), ("h", 7)]
    assert Snapshot.of(tick).commits("unknown", 0) == []
    assert Snapshot.of(tick, None, Scope(groups=("g",))).commits("a", 0) == [("g", 5)]


def test_a_groups_lag_sums_committed_partitions_and_counts_the_others():
    tick = make_tick(
        2,
        groups=[
            commit("g", "a", 0, 100, 110),
            commit("g", "a", 1, None, 110),
            commit("g", "b", 0, 50, None),
        ],
    )
    row = Snapshot.of(tick, None).groups[0]
    assert (row.topics, row.partitions, row.lag) == (2, 3, 10)
    assert (row.not_committed, row.end_unknown) == (1, 1)


def test_a_group_with_neither_commit_nor_member_has_no_lag():
    bare = {"group": "g", "state": "Empty", "members": 0}
    row = Snapshot.of(make_tick(2, groups=[bare]), None).groups[0]
    assert (row.lag, row.partitions, row.topics) == (None, 0, 0)


def test_each_group_of_a_topic_counts_once():
    tick = make_tick(
        2,
        partitions=[part("a", 0)],
        groups=[commit("g", "a", 0, 1, 2), commit("g", "a", 1, 1, 2), commit("h", "a", 0, 1, 2)],
    )
    shown = Snapshot.of(tick, None)
    assert shown.topics[0].groups == 2
    assert [(row.group, row.lag) for row in shown.readers("a")] == [("g", 2), ("h", 1)]


def test_a_group_on_a_topic_has_the_state_of_its_worst_partition_there():
    groups = [
        commit("g", "a", 0, 10, 10),
        commit("g", "a", 1, None, 10),
        commit("g", "b", 0, 10, 10),
    ]
    tick = make_tick(2, partitions=[part("a", 0), part("b", 0)], groups=groups)
    shown = Snapshot.of(tick)
    assert [row.lag_state for row in shown.readers("a")] == [LagState.NOT_COMMITTED]
    assert [row.lag_state for row in shown.readers("b")] == [LagState.CAUGHT_UP]
    assert shown.group_lag_states == {LagState.NOT_COMMITTED: 1}
    of_b = Snapshot.of(tick, scope=Scope(topics=("b",)))
    assert of_b.group_lag_states == {LagState.CAUGHT_UP: 1}


@pytest.mark.parametrize(
    ("times", "last"),
    [
        ([(700, False), (900, False), (None, False)], LastRecord(900, is_latest=True)),
        ([(700, False), (900, True)], LastRecord(900, is_latest=False)),
        ([(700, False), (None, None)], LastRecord(700, is_latest=False)),
        ([(None, True)], LastRecord(None, is_latest=False)),
        ([(None, False)], LastRecord(None, is_latest=True)),
    ],
)
def test_the_last_record_of_a_topic_is_the_newest_of_its_partitions(times, last):
    rows = [
        part("a", number, last_record_ms=time_ms, has_newer_records=has_newer)
        for number, (time_ms, has_newer) in enumerate(times)
    ]
    shown = Snapshot.of(make_tick(2, partitions=rows), None)
    assert shown.topics[0].last_record == last
    time_ms, has_newer = times[0]
    first = LastRecord(time_ms, is_latest=has_newer is False)
    assert shown.partitions("a")[0].last_record == first


@pytest.mark.parametrize(("now", "rate"), [(1500, 100.0), (400, None), (None, None)])
def test_a_broker_that_started_again_has_no_rate_for_one_tick(now, rate):
    broker = {"id": 1, "host": "h", "port": 1, "up": True, "source": "brokerd"}
    before = make_tick(1, brokers=[broker | {"bytes_in": 1000}])
    tick = make_tick(2, brokers=[broker | {"bytes_in": now}])
    assert Snapshot.of(tick, before).brokers[0].bytes_in_rate == rate


def test_leaders_and_replicas_are_counted_per_broker():
    tick = make_tick(
        2,
        partitions=[part("a", 0), part("a", 1, leader=2), part("a", 2, leader=-1)],
        brokers=[{"id": 1, "up": True}, {"id": 2, "up": False}],
        controller_id=2,
    )
    one, two = Snapshot.of(tick, None).brokers
    assert (one.leaders, two.leaders, one.replicas) == (1, 1, 3)
    assert (one.is_controller, two.is_controller, two.up) == (False, True, False)


def test_an_empty_cluster_is_zero_topics_and_unknown_sums():
    totals = Snapshot.of(make_tick(2), None).totals
    assert (totals.topics, totals.partitions, totals.groups) == (0, 0, 0)
    assert [sum.value for sum in (totals.disk_bytes, totals.messages_rate, totals.lag)] == [
        None
    ] * 3
    assert not totals.lag.is_partial


def test_a_sum_has_the_number_of_unknown_parts():
    dead = {"leader": -1, "log_end_offset": None, "log_start_offset": None, "size_bytes": None}
    tick = make_tick(
        2, partitions=[part("a", 0), part("a", 1, **dead), part("b", 0, **dead)]
    )  # fmt: skip
    a, b = Snapshot.of(tick, None).topics
    assert (a.offset_count, a.size_bytes) == (
        PartialSum(100, 1, 2),
        PartialSum(1000, 1, 2),
    )
    assert (a.offset_count.is_partial, a.offset_count.value_if_complete) == (True, None)
    assert (b.offset_count.value, b.offset_count.is_partial) == (None, False)


def test_data_on_disk_sums_replicas_and_counts_unknown_ones():
    tick = make_tick(
        2, partitions=[part("a", 0), part("a", 1, replicas_size_bytes=1000, replicas_reported=1)]
    )
    shown = Snapshot.of(tick, None)
    assert shown.topics[0].disk_bytes == PartialSum(3000, 1, 4, "replicas")
    assert shown.totals.disk_bytes == PartialSum(3000, 1, 4, "replicas")


def test_data_on_disk_is_unknown_in_samples_of_older_versions():
    tick = make_tick(2, partitions=[part("a", 0, replicas_size_bytes=None, replicas_reported=None)])
    assert Snapshot.of(tick, None).totals.disk_bytes.value is None


def test_the_lag_of_a_cluster_has_the_number_of_missing_partitions():
    tick = make_tick(
        2,
        partitions=[part("a", 0)],
        groups=[
            commit("g", "a", 0, 100, 110),
            commit("g", "a", 1, 100, None),
            commit("g", "a", 2, None, 110),
        ],
    )
    assert Snapshot.of(tick, None).totals.lag == PartialSum(10, 1, 2)


def test_partitions_that_are_ahead_count_as_0_and_are_reported():
    tick = make_tick(
        2,
        groups=[commit("g", "a", 0, 600, 110), commit("g", "b", 0, 100, 107),
                commit("h", "a", 0, 130, 110)],
    )  # fmt: skip
    shown = Snapshot.of(tick, None)
    assert [(row.name, row.lag, row.ahead, row.ahead_by) for row in shown.groups] == [
        ("g", 7, 1, 490),
        ("h", 0, 1, 20),
    ]
    assert shown.totals.lag == PartialSum(7, 0, 3, ahead=2, ahead_by=510)
    assert [(row.group, row.ahead_by) for row in shown.readers("a")] == [("g", 490), ("h", 20)]


def test_groups_of_a_silent_coordinator_are_listed_without_lag_and_make_the_sum_partial():
    tick = make_tick(
        2,
        groups=[commit("g", "a", 0, 100, 110), commit("h", "a", 0, 50, None, reported_at_ms=77)],
        groups_complete=False,
    )
    shown = Snapshot.of(tick, None)
    assert [(row.name, row.lag, row.reported_at_ms) for row in shown.groups] == [
        ("g", 10, None),
        ("h", None, 77),
    ]
    assert shown.totals.lag == PartialSum(10, 1, 2, has_unseen_parts=True)
    assert shown.totals.groups_silent == 1
    counts = [(LagState.NO_MEMBERS, 1), (LagState.UNKNOWN, 1)]
    assert list(shown.group_lag_states.items()) == counts


def test_a_broker_that_is_down_keeps_its_address_in_its_row():
    known = {"host": "h", "port": 9092, "up": False, "down_since_ms": 5}
    tick = make_tick(2, brokers=[{"id": 1, **known}, {"id": 2, "up": False, "host": None}])
    one, two = Snapshot.of(tick, None).brokers
    assert (one.address, one.down_since_ms, two.address) == ("h:9092", 5, None)


def test_finding_one_topic_or_group_makes_no_other_row(monkeypatch):
    tick = make_tick(
        2,
        partitions=[part("a", 0), part("b", 0)],
        groups=[commit("g", "a", 0, 100, 110), commit("h", "b", 0, 100, 110)],
    )
    made = []
    modules = {"GroupRow": group_rows, "GroupOnTopicRow": group_rows, "LagRow": lag_rows}
    for name in ("TopicRow", "GroupRow", "GroupOnTopicRow", "PartitionRow", "LagRow"):
        module = modules.get(name, snapshot)
        row = getattr(module, name)
        counted = _counted(row, made)
        monkeypatch.setattr(module, name, counted)
    shown = Snapshot.of(tick)
    assert shown.topic("a").offset_count.value == 100
    assert shown.group("h").lag == 10
    assert shown.group_on_topic("g", "a").lag == 10
    assert [row.group for row in shown.readers("b")] == ["h"]
    assert [row.partition for row in shown.partitions("b")] == [0]
    assert [row.topic for row in shown.lags(group="g")] == ["a"]
    assert made == ["a", "h", "g", "h", "b", "g"]


def _counted(row, made):
    class Counted(row):
        __slots__ = row.__slots__

        def __init__(self, *values, **named):
            super().__init__(*values, **named)
            made.append(getattr(self, row.__slots__[0]))

    return Counted


def test_groups_outside_the_scope_are_not_shown_and_their_lag_is_not_summed():
    tick = make_tick(
        2,
        partitions=[part("a", 0)],
        groups=[commit("g", "a", 0, 100, 110), commit("h", "a", 0, 0, 110)],
    )
    shown = Snapshot.of(tick, scope=Scope(groups=("g",)))
    assert [row.name for row in shown.groups] == shown.group_names == ["g"]
    assert (shown.group("h"), shown.group_on_topic("h", "a")) == (None, None)
    assert [row.group for row in shown.readers("a")] == ["g"]
    assert [row.group for row in shown.lags(topic="a")] == ["g"]
    assert shown.lags(group="h") == []
    assert (shown.topics[0].groups, shown.totals.groups) == (1, 1)
    assert shown.totals.lag == PartialSum(10, 0, 1)
    assert shown.group_lag_states == {LagState.NO_MEMBERS: 1}
    assert not shown.shows_all


def test_groups_named_leaves_out_unknown_names():
    tick = make_tick(2, groups=[commit("g", "a", 0, 5, 10), commit("h", "a", 0, 8, 10)])
    shown = Snapshot.of(tick)
    assert {name: row.lag for name, row in shown.groups_named(["h", "x"]).items()} == {"h": 2}
    assert shown.groups_named([]) == {}


def test_busiest_topics_and_groups_most_behind_come_first():
    before = make_tick(1, partitions=[part(name, 0) for name in "abc"])
    now = make_tick(
        2,
        partitions=[part("a", 0), part("b", 0, log_end_offset=510), part("c", 0)],
        groups=[
            commit("f", "a", 0, 100, None),
            commit("g", "a", 0, 100, 110),
            commit("h", "a", 0, 0, 110),
        ],
    )
    shown = Snapshot.of(now, before)
    assert [row.name for row in shown.busiest_topics(2)] == ["b", "a"]
    assert [row.name for row in shown.groups_most_behind(3)] == ["h", "g", "f"]


def test_lag_rows_are_sorted_by_topic_and_partition():
    tick = make_tick(
        2,
        groups=[
            commit("g", "b", 1, 1, 2),
            commit("g", "a", 2, 1, 2),
            commit("g", "b", 0, 1, 2),
            {"group": "g", "state": "Stable"},
        ],
    )
    lags = Snapshot.of(tick).lags(group="g")
    assert [(row.topic, row.partition) for row in lags] == [("a", 2), ("b", 0), ("b", 1)]
    assert len(Snapshot.of(tick).lags(group="g", count_max=2)) == 2
    assert Snapshot.of(tick).rows_of_group("g").num_rows == 3
