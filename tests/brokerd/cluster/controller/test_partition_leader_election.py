"""Elections: the table of leader × in-sync replicas, row by row, and what must hold for any
state."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokerd.cluster.controller.partition_leader_election import first_state, next_state
from brokerd.replication.partition_state import PartitionState

ID = UUID(int=7)


def _state(leader: int, isr: tuple[int, ...], replicas: tuple[int, ...]) -> PartitionState:
    return PartitionState(
        topic="t",
        partition=0,
        topic_id=ID,
        replicas=replicas,
        leader=leader,
        leader_epoch=4,
        isr=isr,
        controller_epoch=1,
        version=6,
        is_new=True,
    )


@pytest.mark.parametrize(
    ("leader", "isr", "live", "bounced", "next_leader", "next_isr"),
    [
        # leader live, some of the in-sync dead: the dead leave
        (1, (1, 2, 3), {1, 3}, set(), 1, (1, 3)),
        # leader dead, others in sync: the first assigned of them
        (1, (1, 2, 3), {2, 3}, set(), 2, (2, 3)),
        (1, (1, 3), {2, 3}, set(), 3, (3,)),
        # leader dead, nobody else in sync: no leader, the in-sync set stays
        (1, (1,), {2, 3}, set(), -1, (1,)),
        (1, (1,), set(), set(), -1, (1,)),
        (1, (1, 2), {3}, set(), -1, (1, 2)),
        # no leader, an in-sync replica returns
        (-1, (1,), {1, 2}, set(), 1, (1,)),
        (-1, (1, 2), {2}, set(), 2, (2,)),
        # leader bounced: out of the set unless alone in it
        (1, (1, 2), {1, 2, 3}, {1}, 2, (2,)),
        (1, (1,), {1, 2, 3}, {1}, 1, (1,)),
        (1, (1, 2), {1}, {1}, 1, (1,)),
        # a follower bounced: out of the set
        (1, (1, 2), {1, 2, 3}, {2}, 1, (1,)),
        # bounced and there was no leader
        (-1, (1,), {1}, {1}, 1, (1,)),
        # all bounced at once: the first assigned leads again
        (2, (1, 2), {1, 2, 3}, {1, 2}, 1, (1, 2)),
    ],
)
def test_a_change_of_brokers_changes_the_state(
    leader, isr, live, bounced, next_leader, next_isr
) -> None:
    after = next_state(_state(leader, isr, (1, 2, 3)), live, bounced, 9)
    assert after is not None
    assert (after.leader, after.isr) == (next_leader, next_isr)
    assert (after.leader_epoch, after.version, after.controller_epoch) == (5, 7, 9)
    assert not after.is_new


@pytest.mark.parametrize(
    ("leader", "isr", "live", "bounced"),
    [
        (1, (1, 2, 3), {1, 2, 3}, set()),
        (1, (1,), {1}, set()),
        (1, (1, 2), {1, 2}, {3}),
        (-1, (1,), {2, 3}, set()),
        (-1, (1,), set(), set()),
    ],
)
def test_a_state_that_is_right_is_left_alone(leader, isr, live, bounced) -> None:
    assert next_state(_state(leader, isr, (1, 2, 3)), live, bounced, 9) is None


_replicas = st.lists(st.integers(1, 5), min_size=1, max_size=5, unique=True).map(tuple)


@given(_replicas, st.data())
def test_a_leader_is_always_live_and_in_sync_and_a_second_look_changes_nothing(
    replicas, data
) -> None:
    isr = tuple(data.draw(st.lists(st.sampled_from(replicas), min_size=1, unique=True)))
    leader = data.draw(st.sampled_from((*isr, -1)))
    live = data.draw(st.sets(st.integers(1, 5)))
    bounced = data.draw(st.sets(st.integers(1, 5)))
    before = _state(leader, isr, replicas)
    after = next_state(before, live, bounced, 9) or before
    assert after.isr
    assert set(after.isr) <= set(isr)
    if any(replica in live for replica in isr):
        assert after.leader in after.isr
        assert after.leader in live
    else:
        assert (after.leader, after.isr) == (-1, isr)
    assert next_state(after, live, set(), 9) is None


def test_a_new_partition_is_led_by_its_first_live_replica() -> None:
    state = first_state("t", 0, ID, (3, 1, 2), {1, 2}, 9)
    assert state is not None
    assert (state.leader, state.isr, state.leader_epoch) == (1, (1, 2), 0)
    assert (state.version, state.is_new, state.replicas) == (0, True, (3, 1, 2))


def test_a_new_partition_without_a_live_replica_waits() -> None:
    assert first_state("t", 0, ID, (3,), {1, 2}, 9) is None
