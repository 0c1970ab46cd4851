"""ElectLeaders: preferred and unclean elections by request; none can change a leader yet.

The controller elects a leader wherever that is possible, and to move one to the preferred replica
needs replication. So the answers are ELECTION_NOT_NEEDED and ELIGIBLE_LEADERS_NOT_AVAILABLE as in
Kafka, and PREFERRED_LEADER_NOT_AVAILABLE where Kafka could move the leader.
"""

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any

from brokerd.cluster.broker_lifecycle import BrokerLifecycle
from brokerd.cluster.metadata_image import MetadataImage
from brokerd.errors import ErrorCode, KafkaError
from brokerd.event_loop_turns import at_once_or_in_turns
from brokerd.server.requests.request_context import Fields, RequestContext, error_part
from brokerd.topic_partition import TopicPartition

PREFERRED = 0
UNCLEAN = 1


@dataclass(frozen=True, slots=True)
class ElectLeadersHandler:
    cluster: BrokerLifecycle

    def elect_leaders(self, context: RequestContext, request: Any) -> Fields | Awaitable[Fields]:
        """One answer per partition; of all partitions only those where an election was needed."""
        self.cluster.require_controller()
        # Version 0 has no election type.
        election = getattr(request, "election_type", PREFERRED)
        if election not in (PREFERRED, UNCLEAN):
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"There is no election type {election}.")
        image = self.cluster.image
        is_for_all = request.topic_partitions is None
        if is_for_all:
            asked = image.all_partitions()
        else:
            asked = (
                (t.topic, int(index)) for t in request.topic_partitions for index in t.partitions
            )
        topics: dict[str, Fields] = {}

        def elect(key: TopicPartition) -> None:
            topic, index = key
            error = _outcome(image, topic, index, election)
            if is_for_all and error.code is ErrorCode.ELECTION_NOT_NEEDED:
                return
            row = topics.setdefault(topic, {"topic": topic, "partition_result": []})
            row["partition_result"].append({"partition_id": index, **error_part(error)})

        answer = {"error_code": 0, "replica_election_results": topics.values()}
        return at_once_or_in_turns(asked, elect, answer)


def _outcome(image: MetadataImage, topic: str, index: int, election: int) -> KafkaError:
    state = image.partition(topic, index)
    if state is None:
        return KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "The partition does not exist.")
    code, preferred = ErrorCode.ELECTION_NOT_NEEDED, state.replicas[0]
    message = "Leader election not needed for topic partition."
    if election == UNCLEAN and state.leader not in image.brokers:
        code = ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE
        message = f"No replica of {topic}-{index} can be made its leader."
    elif election == PREFERRED and state.leader != preferred:
        code = ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE
        message = f"The preferred leader {preferred} of {topic}-{index} cannot be made its leader."
    return KafkaError(code, message)
