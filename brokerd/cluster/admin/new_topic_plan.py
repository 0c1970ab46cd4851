"""What CreateTopics and CreatePartitions will write: every check and default.

Pure: the random start of the replica assignment is passed in. Refusals have Kafka's codes. Each
partition has one replica (REPLICATION_FACTOR_MAX), also of topics that are created automatically.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from brokerd.cluster.admin.assign_replicas_to_brokers import (
    Assignment,
    assign_replicas,
    check_assignment,
)
from brokerd.cluster.cluster_settings import ClusterSettings
from brokerd.cluster.topic_names import check_collision, check_topic_name, collision_key
from brokerd.cluster.zookeeper.zk_data import TopicNode
from brokerd.config.validate_topic_config import validate_topic_config
from brokerd.coordinator.group.partition_for_group import OFFSETS_TOPIC
from brokerd.errors import ErrorCode, KafkaError

DEFAULT = -1
REPLICATION_FACTOR_MAX = 1
PARTITIONS_MAX = 10_000
"""Of one topic: its node, which lists them all, stays well below ZooKeeper's 1 MiB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTopic:
    """A topic to create. With `assignment` (partition → replicas) the numbers stay DEFAULT; without
    it DEFAULT means the broker's default. A setting in `config` that is None is refused."""

    name: str
    partitions: int = DEFAULT
    replication_factor: int = DEFAULT
    assignment: dict[int, tuple[int, ...]] = field(default_factory=dict)
    config: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPartitions:
    """Growth of a topic to `total` partitions; `assignment` holds the replicas of each added one,
    in order; without one (None) they are assigned."""

    topic: str
    total: int
    assignment: tuple[tuple[int, ...], ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicPlan:
    """A topic to create, with its replicas (partition → brokers) and its id in `node`."""

    name: str
    node: TopicNode
    config: dict[str, str]


def plan_creation(
    topic: NewTopic,
    *,
    topic_id: UUID,
    existing: Mapping[str, str],
    brokers: Mapping[int, str | None],
    settings: ClusterSettings,
    start_index: int,
    shift: int,
) -> TopicPlan:
    """`existing` is from `topic_names.collision_keys`; `brokers` maps live brokers to racks. If
    several things are wrong, the error is the one that Kafka gives."""
    if existing.get(collision_key(topic.name)) == topic.name:
        raise KafkaError(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{topic.name}' already exists.")
    config = _values(topic.config)
    replicas: Assignment = {}
    if topic.assignment:
        _check_not_both(topic)
    else:
        replicas = _assigned(topic, brokers, settings, start_index, shift)
    check_topic_name(topic.name)
    check_collision(topic.name, existing)
    if topic.assignment:
        replicas = _manual_assignment(topic, brokers)
    validate_topic_config(config)
    return TopicPlan(
        name=topic.name, node=TopicNode(topic_id=topic_id, replicas=replicas), config=config
    )


def _values(config: Mapping[str, str | None]) -> dict[str, str]:
    values = {name: value for name, value in config.items() if value is not None}
    missing = ", ".join(name for name in config if name not in values)
    if missing:
        message = f"Null value not supported for topic configs: {missing}"
        raise KafkaError(ErrorCode.INVALID_CONFIG, message)
    return values


def _assigned(
    topic: NewTopic,
    brokers: Mapping[int, str | None],
    settings: ClusterSettings,
    start_index: int,
    shift: int,
) -> Assignment:
    partitions = topic.partitions
    if partitions == DEFAULT:
        partitions = settings.default_partitions
    factor = topic.replication_factor
    if factor == DEFAULT:
        factor = settings.default_replication_factor
    check_partition_count(partitions)
    _check_brokers(brokers)
    replicas = assign_replicas(brokers, partitions, factor, start_index=start_index, shift=shift)
    _check_factor(factor)
    return replicas


def _check_not_both(topic: NewTopic) -> None:
    if topic.partitions != DEFAULT or topic.replication_factor != DEFAULT:
        raise KafkaError(
            ErrorCode.INVALID_REQUEST,
            "Both numPartitions or replicationFactor and replicasAssignments were set. Both "
            "cannot be used at the same time.",
        )


def _manual_assignment(topic: NewTopic, brokers: Mapping[int, str | None]) -> Assignment:
    check_partition_count(len(topic.assignment))
    check_assignment(topic.assignment, brokers)
    _check_factor(len(topic.assignment[0]))
    return {index: tuple(replicas) for index, replicas in topic.assignment.items()}


def plan_new_partitions(
    new_partitions: NewPartitions, node: TopicNode, brokers: Mapping[int, str | None]
) -> TopicNode:
    """The topic's node with added partitions, their replicas as if they were there at its start."""
    present = len(node.replicas)
    added = new_partitions.total - present
    if added <= 0:
        raise KafkaError(ErrorCode.INVALID_PARTITIONS, _too_few(new_partitions, present))
    check_partition_count(new_partitions.total)
    _check_brokers(brokers)
    factor = len(node.replicas[0])
    if new_partitions.assignment is not None:
        replicas = _manually_added(new_partitions, new_partitions.assignment, node, brokers)
    else:
        ordered = sorted(brokers)
        first = node.replicas[0][0]
        start = ordered.index(first) if first in brokers else 0
        replicas = assign_replicas(
            brokers, added, factor, start_index=start, shift=start, first_partition=present
        )
    return TopicNode(
        topic_id=node.topic_id,
        replicas={**node.replicas, **replicas},
        adding=node.adding,
        removing=node.removing,
    )


def _too_few(new_partitions: NewPartitions, present: int) -> str:
    if new_partitions.total == present:
        return f"Topic already has {present} partitions."
    return (
        f"Topic currently has {present} partitions, which is higher than the requested "
        f"{new_partitions.total}."
    )


def _manually_added(
    new_partitions: NewPartitions,
    assignment: Sequence[tuple[int, ...]],
    node: TopicNode,
    brokers: Mapping[int, str | None],
) -> Assignment:
    present = len(node.replicas)
    added = new_partitions.total - present
    if len(assignment) != added:
        raise KafkaError(
            ErrorCode.INVALID_REPLICATION_ASSIGNMENT,
            f"Increasing the number of partitions by {added} but {len(assignment)} "
            "assignments provided.",
        )
    check_assignment(dict(enumerate(assignment)), brokers)
    factor = len(node.replicas[0])
    if len(assignment[0]) != factor:
        raise KafkaError(
            ErrorCode.INVALID_REPLICATION_ASSIGNMENT,
            f"Each new partition needs {factor} replicas, as the partitions that exist.",
        )
    return {present + i: tuple(replicas) for i, replicas in enumerate(assignment)}


def check_partition_count(partitions: int) -> None:
    """Raises INVALID_PARTITIONS if it is below 1 or above the limit of a topic."""
    if partitions <= 0:
        raise KafkaError(
            ErrorCode.INVALID_PARTITIONS, "Number of partitions must be larger than 0."
        )
    if partitions > PARTITIONS_MAX:
        raise KafkaError(
            ErrorCode.INVALID_PARTITIONS,
            f"{partitions} partitions are more than the {PARTITIONS_MAX} that a topic may have.",
        )


def _check_brokers(brokers: Mapping[int, str | None]) -> None:
    if not brokers:
        raise KafkaError(
            ErrorCode.INVALID_REPLICATION_FACTOR, "No broker is live to hold the partitions."
        )


def _check_factor(factor: int) -> None:
    if factor > REPLICATION_FACTOR_MAX:
        raise KafkaError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"Replication factor: {factor} is not supported yet: this version of brokerd keeps "
            f"{REPLICATION_FACTOR_MAX} replica of each partition. Use 1, or -1 for the default.",
        )


def automatic_topic(name: str, settings: ClusterSettings) -> NewTopic:
    """A topic that is created automatically, with the defaults or as the offsets topic."""
    if name != OFFSETS_TOPIC:
        return NewTopic(name=name)
    return NewTopic(
        name=name,
        partitions=settings.offsets_partitions,
        replication_factor=1,
        config={
            "compression.type": "producer",
            "cleanup.policy": "compact",
            "segment.bytes": str(settings.offsets_segment_bytes),
        },
    )
