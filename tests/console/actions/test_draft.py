import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.actions.draft import PlanRefused, fingerprint, refuse_unread_partitions

FACTS = st.dictionaries(st.text(max_size=5), st.integers() | st.lists(st.integers(), max_size=3))


@given(FACTS)
def test_equal_facts_have_the_same_fingerprint_in_any_order(facts):
    assert fingerprint(facts) == fingerprint(dict(reversed(facts.items())))


@given(FACTS, FACTS)
def test_facts_differ_exactly_where_their_fingerprints_do(one, other):
    assert (fingerprint(one) == fingerprint(other)) == (one == other)


def test_partitions_whose_leaders_did_not_answer_are_named():
    refuse_unread_partitions([])
    with pytest.raises(PlanRefused) as refused:
        refuse_unread_partitions(["0", "2", "5", "7"])
    first = "Partition 0 could not be read: its leader does not answer."
    assert str(refused.value).startswith(first)
    assert str(refused.value).endswith("And 1 more.")
