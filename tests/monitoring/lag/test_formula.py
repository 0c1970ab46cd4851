import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from monitoring.lag.formula import (
    member_totals,
    rows_named,
    tick_totals,
    with_lag,
)
from monitoring.lag.notes import LagNote
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
def test_the_table_equals_a_simple_computation(pairs):
    rows = [row("g", "t", n, end, committed) for n, (end, committed) in enumerate(pairs)]
    table = with_lag(groups_table(1, rows))
    for (end, committed), told in zip(pairs, table.to_pylist(), strict=True):
        assert (told["lag"], told["lag_note"]) == lag_of(end, committed)


def test_each_lag_has_its_note():
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


def test_rows_of_several_ticks_are_summed_for_each_tick_and_topic():
    rows = [
        row("g", "b", 0, 5, 0, tick=7),
        row("g", "a", 0, 9, 7, tick=8),
        row("g", "a", 1, 3, 4, tick=8),
        row("g", "a", 0, None, 7, tick=7),
        {"group": "g", "tick": 7},
    ]
    totals = tick_totals(groups_table(1, rows)).to_pylist()
    assert [(t["tick"], t["topic"], t["lag"], t["end_unknown"]) for t in totals] == [
        (7, "a", None, 1),
        (7, "b", 5, 0),
        (8, "a", 2, 0),
    ]


def test_members_are_sorted_by_client_with_their_partitions():
    def owned(partition, member, client):
        return row("g", "a", partition, 5, partition, member_id=member, client_id=client)

    rows = [owned(0, "m-2", "b"), owned(1, "m-1", "c"), owned(2, "m-2", "b"), owned(3, None, None)]
    members = member_totals(groups_table(1, rows)).to_pylist()
    assert [(m["member_id"], m["client_id"], m["partitions"], m["lag"]) for m in members] == [
        ("m-2", "b", 2, 8),
        ("m-1", "c", 1, 4),
    ]


def test_rows_named_finds_rows_in_all_chunks():
    rows = [row("g", "a", 0, 5, 0), row("h", None, None, 5, 0), row("g", "b", 1, 5, 0)]
    table = pa.concat_tables([groups_table(1, rows), groups_table(1, rows[::-1])])
    assert rows_named(table, "group", "g")["topic"].to_pylist() == ["a", "b", "b", "a"]
    assert rows_named(table, "topic", "a")["group"].to_pylist() == ["g", "g"]
    assert rows_named(table, "topic", "nowhere").num_rows == 0
    assert rows_named(groups_table(1, []), "topic", "a").num_rows == 0


def test_no_groups_give_an_empty_table():
    for totals in (tick_totals, member_totals):
        assert totals(groups_table(1, [])).num_rows == 0
