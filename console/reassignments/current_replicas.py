"""The replicas of partitions as the cluster has them now."""

from dataclasses import dataclass

from monitoring.gateway.gateway import Gateway
from monitoring.gateway.topic_partition import TopicPartition
from monitoring.gateway.wire.metadata import BrokerIdLists, Metadata
from monitoring.gateway.wire.reassignments import Reassignment


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition as the cluster's metadata has it."""

    topic_id: str
    leader: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ClusterState:
    """Partitions of some topics, live brokers with their racks, reassignments in progress."""

    partitions: dict[TopicPartition, Partition]
    racks: dict[int, str | None]
    running: dict[TopicPartition, Reassignment]


def read(gateway: Gateway, topics: list[str]) -> ClusterState:
    """The state of these topics; those that do not exist are left out. Raises GatewayError."""
    running = {(each.topic, each.partition): each for each in gateway.reassignments.in_progress()}
    # After the reassignments: one that has ended in between is seen as done.
    metadata = gateway.wire.metadata()
    racks = {broker.id: broker.rack for broker in metadata.brokers}
    return ClusterState(partitions(metadata, topics), racks, running)


def partitions(metadata: Metadata, topics: list[str]) -> dict[TopicPartition, Partition]:
    """The partitions of these topics; those that do not exist are left out."""
    topic_indexes = {name: number for number, name in enumerate(metadata.topics)}
    found: dict[TopicPartition, Partition] = {}
    for topic in topics:
        for number, row in enumerate(metadata.rows_by_topic.get(topic, ())):
            found[topic, number] = Partition(
                metadata.topic_ids[topic_indexes[topic]],
                int(metadata.leaders[row]),
                _ids(metadata.replicas, row),
                _ids(metadata.isr, row),
            )
    return found


def _ids(lists: BrokerIdLists, row: int) -> tuple[int, ...]:
    return tuple(lists.values[lists.offsets[row] : lists.offsets[row + 1]].tolist())
