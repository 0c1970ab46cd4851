"""The states of all partitions, as the controller has them (Kafka's PartitionStateMachine): which
must be written, given the live brokers, the topics and their states. Pure.

An event returns an iterator over the partitions; each item is the state to write, or None: so the
caller can yield to the event loop in between. No decision changes a state: `states` has what is in
ZooKeeper (`note_written`, `load`, `reread`, `removed`), so after a failed write the next decision
is the same.
"""

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import replace

from brokerd.cluster.controller.partition_leader_election import first_state, next_state
from brokerd.cluster.controller.topic_deletion_manager import TopicDeletionManager
from brokerd.cluster.zookeeper import paths
from brokerd.cluster.zookeeper.multi_operations import Create, Operation, SetData
from brokerd.cluster.zookeeper.zk_data import LoadedState, TopicNode, encode_partition_state
from brokerd.replication.partition_state import PartitionState
from brokerd.topic_partition import TopicPartition


class PartitionStateMachine:
    """`brokers` maps a live broker's id to its epoch (czxid); `cleanly_stopped` are those that were
    stopped cleanly before they started."""

    def __init__(
        self,
        controller_epoch: int,
        brokers: Mapping[int, int],
        cleanly_stopped: Container[int] = (),
    ) -> None:
        self.controller_epoch = controller_epoch
        self._cleanly_stopped = cleanly_stopped
        self.brokers = dict(brokers)
        self.offline: Mapping[int, frozenset[TopicPartition]] = {}
        self._offline_names: frozenset[str] = frozenset()
        self.topics: dict[str, TopicNode] = {}
        self.states: dict[TopicPartition, PartitionState] = {}
        self.deletions = TopicDeletionManager()

    def load(
        self,
        topics: Mapping[str, TopicNode],
        states: Iterable[LoadedState],
        marked: Iterable[str],
        last_entry_zxid: int,
    ) -> Iterator[PartitionState | None]:
        """Takes over the cluster as it was found, with the topics `marked` for deletion, then
        decides what is wrong. A leader that has restarted since leads again, under a new leader
        epoch, unless it was stopped cleanly: it has lost nothing. Also returns, with the version
        that it has, each state that is younger than the last entry of the feed: it may not have
        been announced."""
        self.topics = dict(topics)
        self.deletions_asked(marked)
        return self._take_over(states, last_entry_zxid)

    def _take_over(
        self, states: Iterable[LoadedState], last_entry_zxid: int
    ) -> Iterator[PartitionState | None]:
        unannounced: dict[TopicPartition, PartitionState] = {}
        bounced: set[TopicPartition] = set()
        for loaded in states:
            state = loaded.state
            key = (state.topic, state.partition)
            self.states[key] = state
            if loaded.modified_zxid > last_entry_zxid:
                unannounced[key] = replace(state, is_new=loaded.created_zxid > last_entry_zxid)
            if self._is_leader_bounced(loaded):
                bounced.add(key)
            yield None
        for key in _partitions_of(self.topics):
            yield self._decide_loaded(key, unannounced.get(key), key in bounced)

    def _is_leader_bounced(self, loaded: LoadedState) -> bool:
        """Whether the leader registered after the state was written, not having stopped cleanly."""
        leader = loaded.state.leader
        restarted_since = self.brokers.get(leader, -1) > loaded.modified_zxid
        return restarted_since and leader not in self._cleanly_stopped

    def _decide_loaded(
        self, key: TopicPartition, unannounced: PartitionState | None, is_bounced: bool
    ) -> PartitionState | None:
        known = self.states.get(key)
        wanted = self._decide(*key, {known.leader} if known is not None and is_bounced else set())
        if wanted is not None and unannounced is not None:
            return replace(wanted, is_new=unannounced.is_new)
        return wanted or unannounced

    def brokers_changed(self, brokers: Mapping[int, int]) -> Iterator[PartitionState | None]:
        bounced = {b for b, epoch in brokers.items() if self.brokers.get(b, epoch) != epoch}
        self.brokers = dict(brokers)
        return self._decide_each(_partitions_of(self.topics), bounced)

    def offline_changed(
        self, offline: Mapping[int, frozenset[TopicPartition]]
    ) -> Iterator[PartitionState | None]:
        """Decides on each partition for whose replicas it has changed whether live brokers can
        serve them. `offline` has, by broker, those that they cannot."""
        before = _replicas(self.offline)
        self.offline = offline
        self._offline_names = frozenset(name for each in offline.values() for name, _ in each)
        touched = {partition for _, partition in before ^ _replicas(offline)}
        known = [
            (name, index)
            for name, index in sorted(touched)
            if name in self.topics and index in self.topics[name].replicas
        ]
        return self._decide_each(known, set())

    def topics_changed(self, topics: Mapping[str, TopicNode]) -> Iterator[PartitionState | None]:
        """These topics are new or have grown: decides the first states of their new partitions."""
        self.topics.update(topics)
        return self._decide_each(_partitions_of(topics), set())

    def _decide_each(
        self, partitions: Iterable[TopicPartition], bounced: set[int]
    ) -> Iterator[PartitionState | None]:
        return (self._decide(name, index, bounced) for name, index in partitions)

    def _decide(self, name: str, index: int, bounced: set[int]) -> PartitionState | None:
        if name in self.deletions:
            return None
        node = self.topics[name]
        state = self.states.get((name, index))
        live = self._live(name, index, node.replicas[index])
        if state is not None:
            return next_state(state, live, bounced, self.controller_epoch)
        assert node.topic_id is not None, "a topic is given an id before it is taken over"
        return first_state(
            name, index, node.topic_id, node.replicas[index], live, self.controller_epoch
        )

    def _live(self, name: str, index: int, replicas: Iterable[int]) -> Container[int]:
        if not self.offline:
            return self.brokers
        return {each for each in replicas if each in self.brokers
                and (name, index) not in self.offline.get(each, ())}  # fmt: skip

    def note_written(self, states: Iterable[PartitionState]) -> None:
        for state in states:
            self.states[state.topic, state.partition] = state

    def reread(self, key: TopicPartition, loaded: LoadedState | None) -> PartitionState | None:
        """Takes the state of a partition that another wrote (None: there is none in ZooKeeper);
        returns the state to write next, or None."""
        if loaded is None:
            self.states.pop(key, None)
            return self._decide(*key, set())
        self.states[key] = loaded.state
        bounced = {loaded.state.leader} if self._is_leader_bounced(loaded) else set()
        return self._decide(*key, bounced)

    def has_partitions_node(self, topic: str) -> bool:
        return any((topic, index) in self.states for index in self.topics[topic].replicas)

    def written_partitions(self, topic: str) -> list[int]:
        return [index for index in self.topics[topic].replicas if (topic, index) in self.states]

    def deletions_asked(self, names: Iterable[str]) -> None:
        """Unknown topics are passed over; the caller removes their markers."""
        self.deletions.ask({name: self.topics[name] for name in names if name in self.topics})

    def deletions_due(self, applied: Mapping[int, int]) -> list[str]:
        """Topics whose replicas have all stopped. `applied`: the last entry that a broker
        applied."""
        return self.deletions.due(applied, self.brokers, self._offline_names)

    def is_gone(self, name: str, applied: Mapping[int, int]) -> bool:
        """Whether the topic is deleted, or its deletion waits only for what is offline."""
        if name not in self.deletions:
            return name not in self.topics
        return self.deletions.is_held_up(name, applied, self.brokers, self._offline_names)

    def removed(self, name: str) -> None:
        self.deletions.completed(name)
        node = self.topics.pop(name)
        for index in node.replicas:
            self.states.pop((name, index), None)


def _partitions_of(topics: Mapping[str, TopicNode]) -> Iterator[TopicPartition]:
    return ((name, index) for name, node in topics.items() for index in node.replicas)


def _replicas(offline: Mapping[int, frozenset[TopicPartition]]) -> set[tuple[int, TopicPartition]]:
    return {(broker, each) for broker, partitions in offline.items() for each in partitions}


def state_operations(
    states: Iterable[PartitionState], topics_with_partitions_node: Iterable[str]
) -> list[Operation]:
    """Operations that write each state if its node has the version before it (zkVersion); a state
    of version 0 is created, with the nodes above it."""
    operations: list[Operation] = []
    present = set(topics_with_partitions_node)
    for state in states:
        path = paths.partition_state(state.topic, state.partition)
        data = encode_partition_state(state)
        if state.version > 0:
            operations.append(SetData(path, data, state.version - 1))
            continue
        if state.topic not in present:
            present.add(state.topic)
            operations.append(Create(paths.partitions(state.topic)))
        operations.append(Create(paths.partition(state.topic, state.partition)))
        operations.append(Create(path, data))
    return operations
