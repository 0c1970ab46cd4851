import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from monitoring.lag.formula import LagNote, counted_lag, lag_between, with_lag
from tests.monitoring.tick_factory import groups_table


def row(partition, end, committed):
    fields = {"group": "g", "topic": "t", "partition": partition, "state": "Stable", "members": 1}
    return fields | {"log_end_offset": end, "committed_offset": committed}


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
    rows = [row(n, end, committed) for n, (end, committed) in enumerate(pairs)]
    table = with_lag(groups_table(1, rows))
    for (end, committed), told in zip(pairs, table.to_pylist(), strict=True):
        assert (told["lag"], told["lag_note"]) == lag_of(end, committed)


def test_each_lag_has_its_note():
    pairs = [(10, 4), (10, 10), (0, 0), (10, None), (None, 4), (None, None), (10, 12)]
    rows = [row(n, end, committed) for n, (end, committed) in enumerate(pairs)]
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


def test_a_commit_beyond_the_end_is_a_negative_lag_and_counts_as_none_in_a_sum():
    committed, ends = np.array([4, 12]), np.array([10, 10])
    assert lag_between(committed, ends).tolist() == [6, -2]
    assert counted_lag(committed, ends).tolist() == [6, 0]
    assert counted_lag(12, 10) == 0
