"""The proposal of an assignment: even, rack aware, with few moves."""

from collections import Counter

import pytest

from console.reassignments.propose_replicas import propose_replicas


def of(*replicas, topic="orders"):
    return {(topic, number): each for number, each in enumerate(replicas)}


def counts(assignment, first=False):
    return Counter(b for ids in assignment.values() for b in (ids[:1] if first else ids))


def moved(before, after):
    return sum(len(set(after[key]) - set(before[key])) for key in before)


def test_an_even_assignment_stays_as_it_is():
    current = of((1, 2), (2, 3), (3, 1))
    assert propose_replicas(current, dict.fromkeys((1, 2, 3))) == current


def test_replicas_leave_a_broker_that_is_not_chosen():
    current = of((1, 2), (2, 3), (3, 1), (1, 3))
    after = propose_replicas(current, dict.fromkeys((2, 3)))
    assert all(set(ids) == {2, 3} for ids in after.values())
    assert counts(after, first=True) == {2: 2, 3: 2}


def test_a_new_broker_gets_its_share_and_no_other_replica_moves():
    current = of(*[(1, 2), (2, 1)] * 3)
    after = propose_replicas(current, dict.fromkeys((1, 2, 3)))
    assert set(counts(after).values()) == {4}
    assert moved(current, after) == 4


def test_preferred_leaders_are_even_without_moving_data():
    current = of((1, 2, 3), (1, 2, 3), (1, 2, 3))
    after = propose_replicas(current, dict.fromkeys((1, 2, 3)))
    assert moved(current, after) == 0
    assert counts(after, first=True) == {1: 1, 2: 1, 3: 1}


@pytest.mark.parametrize(("factor", "moves"), [(1, 0), (2, 0), (3, 6)])
def test_a_new_factor_adds_or_removes_only_what_it_needs(factor, moves):
    current = of(*[(1, 2), (2, 3), (3, 1)] * 2)
    after = propose_replicas(current, dict.fromkeys((1, 2, 3)), {"orders": factor})
    assert {len(ids) for ids in after.values()} == {factor}
    assert moved(current, after) == moves
    assert max(counts(after).values()) - min(counts(after).values()) <= 1


def test_replicas_are_on_different_racks():
    racks = {1: "a", 2: "a", 3: "b", 4: "b"}
    after = propose_replicas(of((1, 2), (1, 2), (3, 4), (2, 1)), racks)
    assert all({racks[b] for b in ids} == {"a", "b"} for ids in after.values())
    assert set(counts(after).values()) == {2}


def test_topics_have_factors_of_their_own():
    current = of((1,), (1,), topic="a") | of((1, 2), topic="b")
    after = propose_replicas(current, dict.fromkeys((1, 2, 3)), {"a": 3})
    assert {key: len(ids) for key, ids in after.items()} == {("a", 0): 3, ("a", 1): 3, ("b", 0): 2}


def test_a_factor_above_the_number_of_brokers_is_refused():
    with pytest.raises(ValueError, match="3 replicas on 2 brokers"):
        propose_replicas(of((1, 2)), dict.fromkeys((1, 2)), {"orders": 3})


def test_a_large_topic_becomes_even():
    current = of(*[(1, 2, 3)] * 500)
    after = propose_replicas(current, dict.fromkeys(range(1, 8)))
    assert max(counts(after).values()) - min(counts(after).values()) <= 1
    leaders = counts(after, first=True)
    assert max(leaders.values()) - min(leaders.values()) <= 1
