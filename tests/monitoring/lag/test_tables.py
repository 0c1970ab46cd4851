from hypothesis import given, settings
from hypothesis import strategies as st

from monitoring.lag.partition import LagNote
from monitoring.lag.tables import group_totals, topic_totals, with_lag
from tests.monitoring.tick_factory import groups_table


def row(group, topic, partition, end, committed, **more):
    fields = {"group": group, "topic": topic, "partition": partition, "state": "Stable"}
    return fields | {"log_end_offset": end, "committed_offset": committed, "members": 1} | more


def lag_of(end, committed):
    """What the table must say of one partition, written the plain way."""
    if committed is None:
        return None, LagNote.NOT_COMMITTED
    if end is None:
        return None, LagNote.END_UNKNOWN
    return end - committed, LagNote.AHEAD_OF_END if committed > end else LagNote.PLAIN


offsets = st.none() | st.integers(0, 2**40)


@settings(deadline=None)
@given(st.lists(st.tuples(offsets, offsets), max_size=20))
def test_the_table_says_the_same_as_the_plain_way(pairs):
    rows = [row("g", "t", n, end, committed) for n, (end, committed) in enumerate(pairs)]
    table = with_lag(groups_table(1, rows))
    for (end, committed), told in zip(pairs, table.to_pylist(), strict=True):
        assert (told["lag"], told["lag_note"]) == lag_of(end, committed)


def test_the_lag_says_what_is_known_and_nothing_else():
    pairs = [(10, 4), (10, 10), (0, 0), (10, None), (None, 4), (None, None), (10, 12)]
    rows = [row("g", "t", n, end, committed) for n, (end, committed) in enumerate(pairs)]
    told = with_lag(groups_table(1, rows)).select(["lag", "lag_note"]).to_pylist()
    assert [tuple(found.values()) for found in told] == [
        (6, ""),
        (0, ""),
        (0, ""),
        (None, "not_committed"),
        (None, "end_unknown"),
        (None, "not_committed"),
        (-2, "ahead_of_end"),
    ]


def test_a_total_counts_what_it_leaves_out():
    rows = [
        row("g", "a", 0, 10, 4),
        row("g", "a", 1, 10, None),
        row("g", "b", 0, None, 3),
        row("g", "b", 1, 5, 9),
    ]
    [total] = group_totals(groups_table(1, rows)).to_pylist()
    assert total == {
        "group": "g", "state": "Stable", "protocol_type": None, "coordinator": None, "members": 1,
        "topics": 2, "partitions": 4, "lag": 6, "lag_max": 6,
        "ahead": 1, "ahead_by": 4, "not_committed": 1, "end_unknown": 1, "told_at_ms": None,
    }  # fmt: skip


def test_a_group_of_which_no_lag_is_known_has_no_total():
    [total] = group_totals(groups_table(1, [row("g", "a", 0, 10, None)])).to_pylist()
    assert total["lag"] is None
    assert total["not_committed"] == 1


def test_a_group_without_topics_has_no_partitions():
    table = groups_table(1, [{"group": "idle", "state": "Empty", "members": 0}])
    [total] = group_totals(table).to_pylist()
    assert (total["topics"], total["partitions"], total["lag"]) == (0, 0, None)
    assert total["not_committed"] == 0
    assert topic_totals(table).num_rows == 0


def test_totals_come_per_group_and_topic_in_order():
    rows = [row("z", "a", 0, 5, 0), row("b", "y", 0, 3, 0), row("b", "x", 0, 2, 0)]
    totals = topic_totals(groups_table(1, rows)).to_pylist()
    assert [(t["group"], t["topic"], t["lag"]) for t in totals] == [
        ("b", "x", 2),
        ("b", "y", 3),
        ("z", "a", 5),
    ]
    assert [t["group"] for t in group_totals(groups_table(1, rows)).to_pylist()] == ["b", "z"]


def test_no_groups_give_an_empty_table():
    assert group_totals(groups_table(1, [])).num_rows == 0
