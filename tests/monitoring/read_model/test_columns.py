import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from monitoring import scope
from monitoring.read_model.columns import Names

names = st.lists(st.text("ab.*", min_size=1, max_size=4), unique=True, max_size=8)
patterns = st.lists(st.text("ab.*", max_size=4), max_size=4)


@settings(deadline=None)
@given(names, patterns)
def test_patterns_are_matched_as_the_scope_matches_them(found, wanted):
    columns = Names(pa.array(found, pa.string()))
    assert columns.matching(wanted).tolist() == [scope.matches(wanted, name) for name in found]


def test_names_of_the_previous_tick_are_reused_if_equal():
    first = Names(pa.array(["b", "a"]))
    assert Names.of(pa.array(["b", "a"]), first) is first
    other = Names.of(pa.array(["a", "c"]), first)
    assert (other.all, other.codes_in(first).tolist()) == (["a", "c"], [1, -1])
    assert (first.order.tolist(), first.rank.tolist()) == ([1, 0], [1, 0])
