"""Operations in ZooKeeper, as values. A list of operations is one multi: all happen or none."""

from collections.abc import Iterable
from dataclasses import dataclass

from brokerd.cluster.zookeeper import paths
from brokerd.cluster.zookeeper.znode_json import encode_partition_state
from brokerd.replication.state import PartitionState

ANY_VERSION = -1


@dataclass(frozen=True, slots=True)
class Create:
    """`sequence` appends ten digits to the path; `ephemeral` ties the node to the session."""

    path: str
    data: bytes = b""
    ephemeral: bool = False
    sequence: bool = False


@dataclass(frozen=True, slots=True)
class SetData:
    path: str
    data: bytes
    version: int = ANY_VERSION


@dataclass(frozen=True, slots=True)
class Delete:
    path: str
    version: int = ANY_VERSION


@dataclass(frozen=True, slots=True)
class Check:
    """The multi happens only if the node has this version."""

    path: str
    version: int


Operation = Create | SetData | Delete | Check


def write_states(
    states: Iterable[PartitionState], topics_with_partitions_node: Iterable[str]
) -> list[Operation]:
    """Writes each state if its node has the version before it (zkVersion); a state of version 0 is
    created, with the nodes above it."""
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
