from dataclasses import asdict

from hypothesis import given, settings
from hypothesis import strategies as st

from monitoring.lag.lag_state import LagState
from monitoring.partial_sum import PartialSum
from monitoring.read_model.group_columns import GroupColumns
from monitoring.read_model.snapshot import Snapshot
from tests.monitoring.tick_factory import make_tick


def row(group, topic, partition, end, committed, **more):
    fields = {"group": group, "topic": topic, "partition": partition, "state": "Stable"}
    return fields | {"log_end_offset": end, "committed_offset": committed, "members": 1} | more


def groups_of(*rows):
    return Snapshot.of(make_tick(1, groups=list(rows))).groups


def test_a_total_has_the_number_of_missing_parts():
    [total] = groups_of(
        row("g", "a", 0, 10, 4),
        row("g", "a", 1, 10, None),
        row("g", "b", 0, None, 3),
        row("g", "b", 1, 5, 9),
    )
    assert asdict(total) == {
        "group": "g", "state": "Stable", "protocol_type": None, "coordinator": None, "members": 1,
        "topics": 2, "partitions": 4, "lag": 6,
        "ahead": 1, "ahead_by": 4, "not_committed": 1, "end_unknown": 1, "reported_at_ms": None,
        "uncommitted_records": None, "lag_state": LagState.NO_MEMBERS,
        "consumed_rate": None, "produced_rate": None,
        "lag_states": (
            (LagState.NO_MEMBERS, 1), (LagState.NOT_COMMITTED, 1), (LagState.UNKNOWN, 2)
        ),
    }  # fmt: skip


def test_a_group_without_a_known_lag_has_no_total():
    [total] = groups_of(row("g", "a", 0, 10, None))
    assert (total.lag, total.not_committed) == (None, 1)


def test_a_group_without_topics_has_no_partitions():
    [total] = groups_of({"group": "idle", "state": "Empty", "members": 0})
    assert (total.topics, total.partitions, total.lag, total.not_committed) == (0, 0, None, 0)


def test_totals_come_per_group_and_topic_in_order():
    rows = [row("z", "a", 0, 5, 0), row("b", "y", 0, 3, 0), row("b", "x", 0, 2, 0)]
    shown = Snapshot.of(make_tick(1, groups=rows))
    assert shown.group_names == ["b", "z"]
    assert [(found.topic, found.lag) for found in shown.topics_of_group("b", 9)] == [
        ("x", PartialSum(2, 0, 1)),
        ("y", PartialSum(3, 0, 1)),
    ]
    assert [found.topic for found in shown.topics_of_group("b", 1)] == ["x"]


def test_lags_that_are_too_large_for_a_float_are_added_exactly():
    rows = [row("g", "a", n, (1 << 53) + 1, 0) for n in range(3)]
    assert groups_of(*rows)[0].lag == 3 * ((1 << 53) + 1)


offsets = st.none() | st.integers(0, 2**40)
names = st.sampled_from(["a", "b", "c"])


@settings(deadline=None)
@given(st.lists(st.tuples(names, names, offsets, offsets), max_size=20))
def test_the_columns_equal_a_simple_computation(told):
    rows = [row(g, t, n, end, committed) for n, (g, t, end, committed) in enumerate(told)]
    columns = GroupColumns.of(make_tick(1, groups=rows))
    found = {
        (columns.group_names.all[group], columns.topic_names.all[topic]): columns.sums[pair]
        for pair, (group, topic) in enumerate(zip(columns.group, columns.topic, strict=True))
    }
    assert found == {(g, t): plain(told, g, t) for g, t, _, _ in told}


def plain(told, group, topic):
    committed = [(end, at) for g, t, end, at in told if (g, t) == (group, topic) and at is not None]
    lags = [end - at for end, at in committed if end is not None]
    return PartialSum(
        sum(max(lag, 0) for lag in lags) if lags else None,
        len(committed) - len(lags),
        len(committed),
        ahead=sum(lag < 0 for lag in lags),
        ahead_by=sum(max(-lag, 0) for lag in lags),
    )


def test_no_groups_give_no_rows():
    assert groups_of() == []
