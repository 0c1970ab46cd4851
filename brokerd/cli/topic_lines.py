"""The lines of `topics --describe`, in the words of Kafka's TopicCommand. Nothing is asked here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from brokerd.cli.java_hash_order import hash_map_order
from brokerd.cluster.zookeeper.codecs import topic_id_text

DEFAULT_CONFIG = 5
"""The source of a setting that nobody has set."""


@dataclass(frozen=True, slots=True)
class Reassignment:
    """Replicas that a partition is about to get and to lose."""

    replicas: tuple[int, ...]
    adding: tuple[int, ...]
    removing: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Which partitions are shown; none of them set = all."""

    under_replicated: bool = False
    unavailable: bool = False
    under_min_isr: bool = False
    at_min_isr: bool = False

    @property
    def any(self) -> bool:
        return self.under_replicated or self.unavailable or self.under_min_isr or self.at_min_isr


Reassignments = Mapping[int, Reassignment]


def topic_line(topic: Any, configs: Sequence[Any], moving: Reassignments) -> str:
    """The first line of a topic; `topic` and `configs` are as their answers have them."""
    values = {each.name: each.value for each in configs if each.config_source != DEFAULT_CONFIG}
    order = hash_map_order(each.name for each in configs)
    shown = ",".join(f"{name}={values[name]}" for name in order if name in values)
    first = min(topic.partitions, key=lambda each: each.partition_index)
    topic_id = getattr(topic, "topic_id", None)
    identity = "" if topic_id in (None, UUID(int=0)) else f"\tTopicId: {topic_id_text(topic_id)}"
    return (
        f"Topic: {topic.name}{identity}\tPartitionCount: {len(topic.partitions)}"
        f"\tReplicationFactor: {replication_factor(first, moving.get(first.partition_index))}"
        f"\tConfigs: {shown}"
    )


def has_overrides(configs: Sequence[Any]) -> bool:
    return any(each.config_source != DEFAULT_CONFIG for each in configs)


def partition_lines(
    topic: Any, configs: Sequence[Any], moving: Reassignments, filters: Filters, live: set[int]
) -> list[str]:
    """A line for each partition that the filters let through."""
    named = {each.name: each.value for each in configs}
    min_isr = int(named.get("min.insync.replicas") or 1)
    partitions = sorted(topic.partitions, key=lambda each: each.partition_index)
    return [
        _partition_line(topic.name, each, moving.get(each.partition_index))
        for each in partitions
        if not filters.any
        or _is_wanted(each, moving.get(each.partition_index), min_isr, filters, live)
    ]


def _is_wanted(
    partition: Any, moving: Reassignment | None, min_isr: int, filters: Filters, live: set[int]
) -> bool:
    in_sync = len(partition.isr_nodes)
    led = partition.leader_id >= 0
    return (
        (filters.under_replicated and replication_factor(partition, moving) > in_sync)
        or (filters.unavailable and (not led or partition.leader_id not in live))
        or (filters.under_min_isr and (not led or in_sync < min_isr))
        or (filters.at_min_isr and in_sync == min_isr)
    )


def _partition_line(name: str, partition: Any, moving: Reassignment | None) -> str:
    leader = partition.leader_id if partition.leader_id >= 0 else "none"
    line = (
        f"\tTopic: {name}\tPartition: {partition.partition_index}\tLeader: {leader}"
        f"\tReplicas: {_numbers(partition.replica_nodes)}\tIsr: {_numbers(partition.isr_nodes)}"
    )
    if moving is not None:
        line += f"\tAdding Replicas: {_numbers(moving.adding)}"
        line += f"\tRemoving Replicas: {_numbers(moving.removing)}"
    return line + "\tElr: N/A\tLastKnownElr: N/A"


def replication_factor(partition: Any, moving: Reassignment | None) -> int:
    """Without the replicas that a reassignment adds, while it goes on."""
    changing = {*moving.adding, *moving.removing} if moving else set()
    if moving is None or changing.isdisjoint(partition.replica_nodes):
        return len(partition.replica_nodes)
    return len(moving.replicas) - len(moving.adding)


def _numbers(values: Sequence[int]) -> str:
    return ",".join(map(str, values))
