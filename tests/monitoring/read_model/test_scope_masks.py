import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from monitoring import scope
from monitoring.read_model.numpy_columns import Names
from monitoring.read_model.scope_masks import matching

names = st.lists(st.text("ab.*", min_size=1, max_size=4), unique=True, max_size=8)
patterns = st.lists(st.text("ab.*", max_size=4), max_size=4)


@settings(deadline=None)
@given(names, patterns)
def test_patterns_are_matched_as_the_scope_matches_them(found, wanted):
    mask = matching(Names(pa.array(found, pa.string())), wanted)
    assert mask.tolist() == [scope.matches(wanted, name) for name in found]
