import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.actions.draft import PlanRefused, refuse_unread_partitions, same_facts

FACTS = st.dictionaries(st.text(max_size=5), st.integers() | st.lists(st.integers(), max_size=3))


@given(FACTS)
def test_facts_are_the_same_in_any_order(facts):
    assert same_facts(facts, dict(reversed(facts.items())))


@given(FACTS, FACTS)
def test_facts_are_the_same_exactly_if_they_are_equal(one, other):
    assert same_facts(one, other) == (one == other)


def test_partitions_whose_leaders_did_not_answer_are_named():
    refuse_unread_partitions([])
    with pytest.raises(PlanRefused) as refused:
        refuse_unread_partitions(["0", "2", "5", "7"])
    first = "Partition 0 could not be read: its leader does not answer."
    assert str(refused.value).startswith(first)
    assert str(refused.value).endswith("And 1 more.")
