"""AlterPartitionReassignments, ListPartitionReassignments: replicas are not moved yet.

An invalid request gets Kafka's error. The current assignment is accepted (the leader gets a new
epoch, as after any reassignment); any other is refused with INVALID_REPLICA_ASSIGNMENT. A
reassignment that Kafka's controller left in ZooKeeper is listed.
"""

from dataclasses import dataclass
from typing import Any

from brokerd.cluster.broker_lifecycle import BrokerLifecycle
from brokerd.cluster.metadata_image import MetadataImage
from brokerd.errors import ErrorCode, KafkaError
from brokerd.replication.state import PartitionState
from brokerd.server.requests.context import Fields, RequestContext, error_part, milliseconds
from brokerd.topic_partition import TopicPartition
from brokerd.turns import in_turns


@dataclass(frozen=True, slots=True)
class ReassignmentHandlers:
    cluster: BrokerLifecycle

    async def alter_partition_reassignments(self, context: RequestContext, request: Any) -> Fields:
        """One answer per partition; if a partition is named twice, the last replicas count."""
        self.cluster.require_controller()
        image = self.cluster.image
        outcomes: dict[TopicPartition, KafkaError | None] = {}

        def look(asked: tuple[str, Any]) -> None:
            name, each = asked
            key = (name, int(each.partition_index))
            outcomes[key] = _refusal(image, key, each.replicas)

        await in_turns(((t.name, each) for t in request.topics for each in t.partitions), look)
        accepted = [key for key, error in outcomes.items() if error is None]
        timeout_ms = milliseconds(request.timeout)
        outcomes |= await self.cluster.topics.renew_epochs(accepted, timeout_ms)
        topics: dict[str, list[Fields]] = {}

        def answer(outcome: tuple[TopicPartition, KafkaError | None]) -> None:
            (name, index), error = outcome
            topics.setdefault(name, []).append({"partition_index": index, **error_part(error)})

        await in_turns(outcomes.items(), answer)
        return {
            **error_part(),
            "responses": [{"name": name, "partitions": rows} for name, rows in topics.items()],
        }

    async def list_partition_reassignments(self, context: RequestContext, request: Any) -> Fields:
        """The partitions with replicas that are being added or removed; all, or the requested
        ones."""
        self.cluster.require_controller()
        image = self.cluster.image
        if request.topics is None:
            asked = image.all_partitions()
        else:
            asked = ((t.name, int(index)) for t in request.topics for index in t.partition_indexes)
        moving: dict[TopicPartition, PartitionState] = {}

        def look(key: TopicPartition) -> None:
            state = image.partition(*key)
            if state is not None and (state.adding or state.removing):
                moving[key] = state

        await in_turns(asked, look)
        topics: dict[str, list[Fields]] = {}
        for (topic, index), state in sorted(moving.items()):
            topics.setdefault(topic, []).append(
                {
                    "partition_index": index,
                    "replicas": state.replicas,
                    "adding_replicas": state.adding,
                    "removing_replicas": state.removing,
                }
            )
        return {
            **error_part(),
            "topics": [{"name": name, "partitions": rows} for name, rows in topics.items()],
        }


def _refusal(
    image: MetadataImage, key: TopicPartition, replicas: tuple[int, ...] | None
) -> KafkaError | None:
    try:
        _check(image, image.partition(*key), replicas)
    except KafkaError as error:
        return error.alone()
    return None


def _check(
    image: MetadataImage, state: PartitionState | None, replicas: tuple[int, ...] | None
) -> None:
    """Raises KafkaError unless the partition already has exactly these replicas."""
    if state is None and replicas is not None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "The partition does not exist.")
    if state is None or replicas is None:
        if state and (state.adding or state.removing):
            raise _invalid("Reassignments cannot be cancelled on this broker yet.")
        raise KafkaError(
            ErrorCode.NO_REASSIGNMENT_IN_PROGRESS, "No partition reassignment is in progress."
        )
    if not replicas:
        raise _invalid("Empty replica list specified in partition reassignment.")
    if len(set(replicas)) != len(replicas):
        raise _invalid("Duplicate replica ids in partition reassignment replica list.")
    if min(replicas) < 0:
        raise _invalid("Invalid broker id in replica list.")
    dead = sorted(set(replicas) - image.brokers.keys())
    if dead:
        ids = ", ".join(map(str, dead))
        raise _invalid(f"Replica assignment has brokers that are not alive: {ids}.")
    if tuple(replicas) != state.replicas:
        raise _invalid("Replicas cannot be moved to other brokers on this broker yet.")


def _invalid(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REPLICATION_ASSIGNMENT, message)
