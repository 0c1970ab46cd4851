"""The operations that write partition states: which nodes, with which versions."""

from uuid import UUID

from brokerd.cluster.controller.write_partition_states import state_operations
from brokerd.cluster.zookeeper.multi_operations import Create, SetData
from brokerd.replication.partition_state import PartitionState


def _state(index: int, *, version: int = 0) -> PartitionState:
    return PartitionState(
        topic="t", partition=index, topic_id=UUID(int=7), replicas=(1,), leader=1,
        leader_epoch=version, isr=(1,), controller_epoch=1, version=version,
    )  # fmt: skip


def test_states_are_created_with_their_parents_and_changed_over_the_version_before() -> None:
    operations = state_operations([_state(0), _state(1), _state(2, version=4)], [])
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
    assert state_operations([_state(1)], ["t"])[0].path == f"{root}/1"
