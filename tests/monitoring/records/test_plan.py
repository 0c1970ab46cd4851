from hypothesis import given
from hypothesis import strategies as st

from monitoring.records.plan import WINDOW_BYTES, SearchPlan, Window

SPANS = st.dictionaries(
    st.integers(0, 5),
    st.tuples(st.integers(0, 10**6), st.integers(0, 10**5)).map(lambda at: range(at[0], sum(at))),
    max_size=4,
)


def windows(plan: SearchPlan, bytes_per_offset: int) -> list[Window]:
    found = []
    while (window := plan.take()) is not None:
        read_to = window.end if plan.newest_first else min(window.end, window.first + 30_000)
        found.append(Window(window.partition, window.first, read_to))
        plan.give_back(window, read_to, (read_to - window.first) * bytes_per_offset)
    return found


@given(SPANS, st.booleans(), st.integers(0, 2000))
def test_every_offset_is_read_once(spans, newest_first, bytes_per_offset):
    plan = SearchPlan(spans, newest_first)
    found = windows(plan, bytes_per_offset)
    for partition, span in spans.items():
        pieces = sorted((w.first, w.end) for w in found if w.partition == partition)
        offsets = [offset for first, end in pieces for offset in range(first, end)]
        assert offsets == list(span)
    assert plan.offsets_left == 0


def test_the_newest_window_comes_first_and_grows_to_the_bytes_of_one_fetch():
    plan = SearchPlan({0: range(10**6)}, newest_first=True)
    found = windows(plan, bytes_per_offset=100)
    assert found[0].end == 10**6
    assert found[1].end == found[0].first
    assert found[1].end - found[1].first == WINDOW_BYTES // 100


def test_partitions_take_turns_and_have_one_window_at_a_time():
    plan = SearchPlan({0: range(9), 1: range(9)}, newest_first=False)
    first, second = plan.take(), plan.take()
    assert (first.partition, second.partition) == (0, 1)
    assert plan.take() is None
    plan.give_back(first, 5, 100)
    assert plan.take() == Window(0, 5, 9)


def test_a_partition_that_cannot_be_read_is_left_out():
    plan = SearchPlan({0: range(9)}, newest_first=True)
    plan.drop(plan.take())
    assert (plan.take(), plan.offsets_left, plan.offsets_total) == (None, 0, 9)
