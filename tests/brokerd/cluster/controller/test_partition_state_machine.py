"""The state machine of the controller: events in, states to write and topics to announce out."""

from collections.abc import Iterable
from uuid import UUID

from brokerd.cluster.controller.partition_state_machine import (
    PartitionStateMachine,
    state_operations,
)
from brokerd.cluster.zookeeper.multi_operations import Create, SetData
from brokerd.cluster.zookeeper.zk_data import LoadedState, TopicNode
from brokerd.replication.partition_state import PartitionState

ID = UUID(int=7)


def _topic(*leaders: int, topic_id: UUID = ID) -> TopicNode:
    return TopicNode(topic_id=topic_id, replicas={i: (b,) for i, b in enumerate(leaders)})


def _state(
    index: int, leader: int, *, version: int = 0, replica: int | None = None, is_new: bool = False
) -> PartitionState:
    return PartitionState(
        topic="t",
        partition=index,
        topic_id=ID,
        replicas=(replica or leader,),
        leader=leader,
        leader_epoch=version,
        isr=(replica or leader,),
        controller_epoch=1,
        version=version,
        is_new=is_new,
    )


def _loaded(state: PartitionState, created: int, modified: int) -> LoadedState:
    return LoadedState(state=state, created_zxid=created, modified_zxid=modified)


def _wanted(decided: Iterable[PartitionState | None]) -> list[PartitionState]:
    """The states to write."""
    return [state for state in decided if state is not None]


def _running(*brokers: int, leaders: tuple[int, ...] = (1, 2)) -> PartitionStateMachine:
    """An elected controller with the topic `t`, everything written and announced."""
    core = PartitionStateMachine(1, dict.fromkeys(brokers, 10))
    core.note_written(_wanted(core.topics_changed({"t": _topic(*leaders)})))
    return core


def test_a_new_topic_gets_a_state_for_each_partition_with_a_live_replica() -> None:
    core = PartitionStateMachine(1, {1: 10, 2: 11})
    wanted = _wanted(core.topics_changed({"t": _topic(1, 2, 3)}))
    assert [(state.partition, state.leader) for state in wanted] == [(0, 1), (1, 2)]
    assert all(state.is_new and state.version == 0 for state in wanted)


def test_a_partition_whose_replica_was_away_gets_its_state_when_it_comes() -> None:
    core = _running(1, leaders=(1, 3))
    wanted = _wanted(core.brokers_changed({1: 10, 3: 12}))
    assert [(state.partition, state.leader, state.is_new) for state in wanted] == [(1, 3, True)]


def test_a_dead_broker_takes_its_partitions_offline_and_brings_them_back() -> None:
    core = _running(1, 2)
    gone = _wanted(core.brokers_changed({1: 10}))
    assert [(s.partition, s.leader, s.isr, s.leader_epoch) for s in gone] == [(1, -1, (2,), 1)]
    core.note_written(gone)
    back = _wanted(core.brokers_changed({1: 10, 2: 20}))
    assert [(s.partition, s.leader, s.leader_epoch, s.version) for s in back] == [(1, 2, 2, 2)]


def test_a_replica_that_its_live_broker_cannot_serve_leads_no_more_until_it_can() -> None:
    core = _running(1, 2)
    lost = _wanted(core.offline_changed({2: frozenset({("t", 1), ("gone", 0)})}))
    assert [(s.partition, s.leader, s.isr, s.leader_epoch) for s in lost] == [(1, -1, (2,), 1)]
    core.note_written(lost)
    assert _wanted(core.brokers_changed({1: 10, 2: 20})) == []
    back = _wanted(core.offline_changed({}))
    assert [(s.partition, s.leader, s.leader_epoch) for s in back] == [(1, 2, 2)]


def test_another_replica_leads_where_one_of_them_cannot_be_served() -> None:
    core = PartitionStateMachine(1, {1: 10, 2: 10})
    node = TopicNode(topic_id=ID, replicas={0: (1, 2)})
    core.note_written(_wanted(core.topics_changed({"t": node})))
    (state,) = _wanted(core.offline_changed({1: frozenset({("t", 0)})}))
    assert (state.leader, state.isr, state.replicas) == (2, (2,), (1, 2))


def test_a_second_replica_that_cannot_be_served_is_seen_as_well() -> None:
    core = PartitionStateMachine(1, {1: 10, 2: 10})
    node = TopicNode(topic_id=ID, replicas={0: (1, 2)})
    core.note_written(_wanted(core.topics_changed({"t": node})))
    first = {1: frozenset({("t", 0)})}
    core.note_written(_wanted(core.offline_changed(first)))
    (state,) = _wanted(core.offline_changed({**first, 2: frozenset({("t", 0)})}))
    assert (state.leader, state.isr) == (-1, (2,))
    core.note_written([state])
    (back,) = _wanted(core.offline_changed(first))
    assert (back.leader, back.isr) == (2, (2,)), "nor does one that can be again go unseen"


def test_a_deletion_waits_for_a_replica_that_cannot_be_served() -> None:
    core = _running(1, 2)
    _wanted(core.offline_changed({2: frozenset({("t", 1)})}))
    core.deletions_asked(["t"])
    core.deletions.announced([("t", ID)], 5)
    assert core.deletions_due({1: 5, 2: 5}) == []
    assert core.is_gone("t", {1: 5, 2: 5})
    _wanted(core.offline_changed({}))
    assert core.deletions_due({1: 5, 2: 5}) == ["t"]


def test_a_broker_that_bounced_between_two_looks_leads_again_with_a_higher_epoch() -> None:
    core = _running(1, 2)
    wanted = _wanted(core.brokers_changed({1: 10, 2: 99}))
    assert [(s.partition, s.leader, s.leader_epoch) for s in wanted] == [(1, 2, 1)]


def test_what_was_not_written_is_decided_again() -> None:
    core = _running(1, 2)
    first = _wanted(core.brokers_changed({1: 10}))
    assert _wanted(core.brokers_changed({1: 10})) == first


def test_a_state_that_another_wrote_is_decided_upon_as_it_was_found() -> None:
    core = _running(1, 2)
    assert core.reread(("t", 0), _loaded(_state(0, 1, version=4), 5, 50)) is None
    assert core.states["t", 0].version == 4
    wanted = core.reread(("t", 1), _loaded(_state(1, 3, version=4, replica=2), 5, 50))
    assert wanted is not None
    assert (wanted.leader, wanted.version) == (2, 5)
    assert core.reread(("t", 0), None) == _running(1, 2).states["t", 0], "it was removed"


def test_a_leader_that_bounced_after_another_wrote_its_state_gets_a_higher_epoch() -> None:
    core = _running(1, 2)
    core.brokers[1] = 99
    wanted = core.reread(("t", 0), _loaded(_state(0, 1, version=4), 5, 50))
    assert wanted is not None
    assert (wanted.leader, wanted.leader_epoch) == (1, 5)


def test_a_grown_topic_gets_states_for_the_added_partitions_only() -> None:
    core = _running(1, 2)
    wanted = _wanted(core.topics_changed({"t": _topic(1, 2, 1)}))
    assert [state.partition for state in wanted] == [2]


def test_a_successor_announces_what_is_younger_than_the_last_entry() -> None:
    core = PartitionStateMachine(2, {1: 10, 2: 11})
    wanted = _wanted(
        core.load(
            {"t": _topic(1, 2, 1)},
            [
                _loaded(_state(0, 1, version=3), created=20, modified=50),
                _loaded(_state(1, 2, version=1), created=20, modified=61),
                _loaded(_state(2, 1, version=0), created=62, modified=62),
            ],
            (),
            last_entry_zxid=60,
        )
    )
    assert [(s.partition, s.version, s.is_new) for s in wanted] == [(1, 1, False), (2, 0, True)]
    assert all(core.states["t", s.partition].version == s.version for s in wanted)


def test_a_successor_sees_a_bounce_that_nobody_acted_on() -> None:
    core = PartitionStateMachine(2, {1: 70})
    wanted = _wanted(
        core.load({"t": _topic(1)}, [_loaded(_state(0, 1), 20, 50)], (), last_entry_zxid=60)
    )
    assert [(s.leader, s.leader_epoch, s.version) for s in wanted] == [(1, 1, 1)]


def test_a_leader_that_restarted_after_a_clean_stop_keeps_its_epoch() -> None:
    core = PartitionStateMachine(2, {1: 70, 2: 70}, cleanly_stopped=(1,))
    states = [_loaded(_state(0, 1), 20, 50), _loaded(_state(1, 2), 20, 50)]
    wanted = _wanted(core.load({"t": _topic(1, 2)}, states, (), last_entry_zxid=60))
    assert [(s.partition, s.leader, s.leader_epoch) for s in wanted] == [(1, 2, 1)]


def test_a_successor_keeps_is_new_of_a_partition_that_nobody_was_told_of() -> None:
    core = PartitionStateMachine(2, {1: 70})
    wanted = _wanted(
        core.load({"t": _topic(1)}, [_loaded(_state(0, 1), 61, 62)], (), last_entry_zxid=60)
    )
    assert [(s.leader_epoch, s.version, s.is_new) for s in wanted] == [(1, 1, True)]


def test_a_successor_finds_partitions_without_state_and_with_dead_leaders() -> None:
    core = PartitionStateMachine(2, {1: 10})
    wanted = _wanted(
        core.load({"t": _topic(1, 2)}, [_loaded(_state(1, 2), 20, 20)], (), last_entry_zxid=60)
    )
    assert [(s.partition, s.leader) for s in wanted] == [(0, 1), (1, -1)]


def test_a_deletion_goes_on_when_every_replica_has_stopped() -> None:
    core = _running(1, 2)
    core.deletions_asked(["t", "unknown"])
    announced = core.deletions.to_announce()
    assert announced == [("t", ID)]
    assert core.deletions_due({1: 9, 2: 9}) == []
    core.deletions.announced(announced, 5)
    core.deletions_asked(["t"])
    assert core.deletions.to_announce() == []
    assert core.deletions_due({1: 5, 2: 4}) == []
    assert core.deletions_due({1: 5, 2: 5}) == ["t"]
    core.removed("t")
    assert (core.topics, core.states) == ({}, {})
    assert "t" not in core.deletions


def test_a_deletion_waits_for_a_broker_that_is_away() -> None:
    core = _running(1, 2)
    core.deletions_asked(["t"])
    core.deletions.announced([("t", ID)], 5)
    assert not core.is_gone("t", {1: 5, 2: 5})
    _wanted(core.brokers_changed({1: 10}))
    assert [core.is_gone("t", {1: applied}) for applied in (4, 5)] == [False, True]
    assert core.deletions_due({1: 5, 2: 5}) == []
    _wanted(core.brokers_changed({1: 10, 2: 30}))
    assert core.deletions_due({1: 5, 2: 5}) == ["t"]


def test_a_topic_on_its_way_out_is_not_elected_for() -> None:
    core = _running(1, 2)
    core.deletions_asked(["t"])
    assert _wanted(core.brokers_changed({1: 10})) == []


def test_a_successor_takes_a_deletion_up_where_it_finds_the_marker() -> None:
    core = PartitionStateMachine(2, {1: 10})
    wanted = _wanted(core.load({"t": _topic(2)}, [], ["t"], last_entry_zxid=0))
    assert wanted == []
    assert core.deletions.to_announce() == [("t", ID)]


def test_whoever_asks_may_take_a_break_after_each_partition() -> None:
    core = _running(1, 2, leaders=(1, 1, 1, 2))
    decided = list(core.brokers_changed({1: 10}))
    assert [state is not None for state in decided] == [False, False, False, True]
    loaded = [_loaded(_state(index, 1), 20, 20) for index in range(3)]
    anew = PartitionStateMachine(1, {1: 10})
    assert list(anew.load({"t": _topic(1, 1, 1)}, loaded, (), last_entry_zxid=60)) == [None] * 6


def test_states_are_created_with_their_parents_and_changed_over_the_version_before() -> None:
    operations = state_operations([_state(0, 1), _state(1, 1), _state(2, 1, version=4)], [])
    root = "/brokers/topics/t/partitions"
    assert [(type(o), o.path) for o in operations] == [
        (Create, root),
        (Create, f"{root}/0"),
        (Create, f"{root}/0/state"),
        (Create, f"{root}/1"),
        (Create, f"{root}/1/state"),
        (SetData, f"{root}/2/state"),
    ]
    last = operations[-1]
    assert isinstance(last, SetData)
    assert last.version == 3
    assert state_operations([_state(1, 1)], ["t"])[0].path == f"{root}/1"
