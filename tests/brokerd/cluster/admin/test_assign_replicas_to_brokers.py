"""Replica assignment: Kafka's own examples, and what must hold for any cluster."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokerd.cluster.admin.assign_replicas_to_brokers import (
    alternate_racks,
    assign_replicas,
    check_assignment,
)
from brokerd.errors import ErrorCode, KafkaError


def _unaware(*brokers: int) -> dict[int, str | None]:
    return dict.fromkeys(brokers)


def test_ten_partitions_on_five_brokers_are_assigned_as_kafka_documents() -> None:
    assigned = assign_replicas(_unaware(0, 1, 2, 3, 4), 10, 3, start_index=0, shift=0)
    assert assigned == {
        0: (0, 1, 2),
        1: (1, 2, 3),
        2: (2, 3, 4),
        3: (3, 4, 0),
        4: (4, 0, 1),
        5: (0, 2, 3),
        6: (1, 3, 4),
        7: (2, 4, 0),
        8: (3, 0, 1),
        9: (4, 1, 2),
    }


def test_rack_aware_assignment_puts_each_replica_on_a_rack_of_its_own() -> None:
    racks = {0: "r1", 1: "r3", 2: "r3", 3: "r2", 4: "r2", 5: "r1"}
    assert alternate_racks(racks) == [0, 3, 1, 5, 4, 2]
    assigned = assign_replicas(racks, 6, 3, start_index=0, shift=0)
    assert assigned[0] == (0, 3, 1)
    for replicas in assigned.values():
        assert len({racks[replica] for replica in replicas}) == 3


@given(
    st.integers(1, 8), st.integers(1, 40), st.integers(1, 8), st.integers(0, 7), st.integers(0, 7)
)
def test_replicas_differ_and_leaders_are_spread_evenly(
    brokers: int, partitions: int, factor: int, start: int, shift: int
) -> None:
    factor = min(factor, brokers)
    assigned = assign_replicas(
        _unaware(*range(brokers)), partitions, factor, start_index=start, shift=shift
    )
    assert sorted(assigned) == list(range(partitions))
    assert all(len(set(replicas)) == factor for replicas in assigned.values())
    leaders = Counter(replicas[0] for replicas in assigned.values())
    counts = [leaders[broker] for broker in range(brokers)]
    assert max(counts) - min(counts) <= 1


@given(st.integers(1, 6), st.integers(1, 20), st.integers(1, 20))
def test_a_grown_topic_is_assigned_as_if_it_had_been_that_large_from_the_start(
    brokers: int, present: int, added: int
) -> None:
    live = _unaware(*range(brokers))
    whole = assign_replicas(live, present + added, 1, start_index=0, shift=0)
    grown = assign_replicas(live, added, 1, start_index=0, shift=0, first_partition=present)
    assert {**{i: whole[i] for i in range(present)}, **grown} == whole


@pytest.mark.parametrize(
    ("partitions", "factor", "code"),
    [
        (0, 1, ErrorCode.INVALID_PARTITIONS),
        (1, 0, ErrorCode.INVALID_REPLICATION_FACTOR),
        (1, 3, ErrorCode.INVALID_REPLICATION_FACTOR),
    ],
)
def test_what_cannot_be_assigned_is_refused(partitions: int, factor: int, code: ErrorCode) -> None:
    with pytest.raises(KafkaError) as refused:
        assign_replicas(_unaware(1, 2), partitions, factor, start_index=0, shift=0)
    assert refused.value.code is code


def test_brokers_with_and_without_rack_are_not_mixed() -> None:
    with pytest.raises(KafkaError, match="rack information"):
        assign_replicas({1: "a", 2: None}, 1, 1, start_index=0, shift=0)


@pytest.mark.parametrize(
    ("assignment", "reason"),
    [
        ({0: (1,), 2: (1,)}, "consecutive"),
        ({0: (1,), 1: (1, 2)}, "same number"),
        ({0: (1, 1)}, "Duplicate"),
        ({0: (9,)}, "unknown brokers"),
        ({0: ()}, "no replicas"),
    ],
)
def test_a_chosen_assignment_is_checked(assignment, reason: str) -> None:
    with pytest.raises(KafkaError, match=reason) as refused:
        check_assignment(assignment, {1: None, 2: None})
    assert refused.value.code is ErrorCode.INVALID_REPLICATION_ASSIGNMENT
