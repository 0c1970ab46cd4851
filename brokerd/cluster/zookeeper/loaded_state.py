"""The state of a partition as it was read from ZooKeeper: its `state` node and its topic's node."""

from dataclasses import dataclass
from uuid import UUID

from brokerd.cluster.zookeeper.znode_json import LeaderAndIsr, TopicNode
from brokerd.replication.state import PartitionState


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedState:
    """A state as read from ZooKeeper, with the zxids of its znode."""

    state: PartitionState
    created_zxid: int
    modified_zxid: int


def to_state(
    topic: str, index: int, node: TopicNode, topic_id: UUID, read: LeaderAndIsr, version: int
) -> PartitionState:
    """The state of a partition from its two znodes. A state that was never changed is new."""
    return PartitionState(
        topic=topic,
        partition=index,
        topic_id=topic_id,
        replicas=node.replicas[index],
        adding=node.adding.get(index, ()),
        removing=node.removing.get(index, ()),
        leader=read.leader,
        leader_epoch=read.leader_epoch,
        isr=read.isr,
        controller_epoch=read.controller_epoch,
        version=version,
        is_new=version == 0,
    )
