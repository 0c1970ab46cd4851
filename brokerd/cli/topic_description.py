"""The lines of `topics --describe`, as Kafka's TopicCommand. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from brokerd.cluster.zookeeper.zk_data import topic_id_text
from brokerd.config.value_parsers import ConfigSource, comma_list

REPORTS = (
    "under-replicated-partitions", "under-min-isr-partitions", "at-min-isr-partitions",
    "unavailable-partitions",
)  # fmt: skip
"""Options that show only some partitions. Unavailable means without a live leader."""


@dataclass(frozen=True, slots=True)
class Reassignment:
    """A reassignment under way: all replicas, and those being added and removed."""

    replicas: tuple[int, ...]
    adding: tuple[int, ...]
    removing: tuple[int, ...]


Reassignments = Mapping[int, Reassignment]


def topic_line(topic: Any, configs: Sequence[Any], moving: Reassignments) -> str:
    """The first line of a topic, from its entries in answers to Metadata and DescribeConfigs."""
    changed = [each for each in configs if each.config_source != ConfigSource.DEFAULT_CONFIG]
    shown = ",".join(sorted(f"{each.name}={each.value}" for each in changed))
    first = min(topic.partitions, key=lambda each: each.partition_index)
    topic_id = getattr(topic, "topic_id", None)
    identity = "" if topic_id in (None, UUID(int=0)) else f"\tTopicId: {topic_id_text(topic_id)}"
    return (
        f"Topic: {topic.name}{identity}\tPartitionCount: {len(topic.partitions)}"
        f"\tReplicationFactor: {replication_factor(first, moving.get(first.partition_index))}"
        f"\tConfigs: {shown}"
    )


def has_overrides(configs: Sequence[Any]) -> bool:
    return any(each.config_source != ConfigSource.DEFAULT_CONFIG for each in configs)


def partition_lines(
    topic: Any, configs: Sequence[Any], moving: Reassignments, reports: set[str], live: set[int]
) -> list[str]:
    """A line for each partition, or for those that one of the reports is about."""
    named = {each.name: each.value for each in configs}
    min_isr = int(named.get("min.insync.replicas") or 1)
    partitions = sorted(topic.partitions, key=lambda each: each.partition_index)
    return [
        _partition_line(topic.name, each, moving.get(each.partition_index))
        for each in partitions
        if not reports
        or reports & _reports_of(each, moving.get(each.partition_index), min_isr, live)
    ]


def _reports_of(
    partition: Any, moving: Reassignment | None, min_isr: int, live: set[int]
) -> set[str]:
    in_sync = len(partition.isr_nodes)
    led = partition.leader_id >= 0
    applies = (
        replication_factor(partition, moving) > in_sync,
        not led or in_sync < min_isr,
        in_sync == min_isr,
        not led or partition.leader_id not in live,
    )
    return {report for report, is_so in zip(REPORTS, applies, strict=True) if is_so}


def _partition_line(name: str, partition: Any, moving: Reassignment | None) -> str:
    leader = partition.leader_id if partition.leader_id >= 0 else "none"
    line = (
        f"\tTopic: {name}\tPartition: {partition.partition_index}\tLeader: {leader}"
        f"\tReplicas: {comma_list(partition.replica_nodes)}\tIsr: {comma_list(partition.isr_nodes)}"
    )
    if moving is not None:
        line += f"\tAdding Replicas: {comma_list(moving.adding)}"
        line += f"\tRemoving Replicas: {comma_list(moving.removing)}"
    return line + "\tElr: N/A\tLastKnownElr: N/A"


def replication_factor(partition: Any, moving: Reassignment | None) -> int:
    """The replication factor; during a reassignment without the replicas that it adds."""
    changing = {*moving.adding, *moving.removing} if moving else set()
    if moving is None or changing.isdisjoint(partition.replica_nodes):
        return len(partition.replica_nodes)
    return len(moving.replicas) - len(moving.adding)
