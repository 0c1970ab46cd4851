"""The operations that write the states of partitions to ZooKeeper."""

from collections.abc import Iterable

from brokerd.cluster.zookeeper import paths
from brokerd.cluster.zookeeper.multi_operations import Create, Operation, SetData
from brokerd.cluster.zookeeper.zk_data import encode_partition_state
from brokerd.replication.partition_state import PartitionState


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
