"""AlterPartitionReassignments, ListPartitionReassignments: replicas are not moved yet.

The current assignment is accepted and changes nothing; any other is refused with
INVALID_REPLICA_ASSIGNMENT. A reassignment that Kafka's controller left in ZooKeeper is listed.
"""

from dataclasses import dataclass
from typing import Any

from brokerd.cluster.broker_lifecycle import BrokerLifecycle
from brokerd.errors import ErrorCode, KafkaError
from brokerd.event_loop_turns import in_turns
from brokerd.replication.partition_state import PartitionState
from brokerd.server.requests.request_context import Fields, RequestContext, error_part
from brokerd.topic_partition import TopicPartition


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
            outcomes[key] = _refusal(image.partition(*key), each.replicas)

        await in_turns(((t.name, each) for t in request.topics for each in t.partitions), look)
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
        """The partitions, of all or of those asked for, with replicas being added or removed."""
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


def _refusal(state: PartitionState | None, replicas: tuple[int, ...] | None) -> KafkaError | None:
    """None if the partition already has exactly these replicas. Without replicas a reassignment is
    to be cancelled."""
    code, message = ErrorCode.INVALID_REPLICATION_ASSIGNMENT, ""
    if replicas is None and state and (state.adding or state.removing):
        message = "Reassignments cannot be cancelled on this broker yet."
    elif replicas is None:
        code = ErrorCode.NO_REASSIGNMENT_IN_PROGRESS
        message = "No partition reassignment is in progress."
    elif state is None:
        code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        message = "The partition does not exist."
    elif tuple(replicas) != state.replicas:
        message = "Replicas cannot be moved to other brokers on this broker yet."
    return KafkaError(code, message) if message else None
