from hypothesis import given
from hypothesis import strategies as st

from console.actions.draft import fingerprint

FACTS = st.dictionaries(st.text(max_size=5), st.integers() | st.lists(st.integers(), max_size=3))


@given(FACTS)
def test_equal_facts_have_the_same_fingerprint_in_any_order(facts):
    assert fingerprint(facts) == fingerprint(dict(reversed(facts.items())))


@given(FACTS, FACTS)
def test_facts_differ_exactly_where_their_fingerprints_do(one, other):
    assert (fingerprint(one) == fingerprint(other)) == (one == other)
