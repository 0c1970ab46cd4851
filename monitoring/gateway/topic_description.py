"""A topic as the cluster describes it now. librdkafka's processes load this module: no Django."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PartitionDescription:
    partition: int
    leader: int  # −1 = none
    replicas: tuple[int, ...]
    isr: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TopicDescription:
    """A topic's partitions now, read from the cluster."""

    name: str
    partitions: tuple[PartitionDescription, ...]
    topic_id: str = ""  # empty = the cluster has no topic ids
