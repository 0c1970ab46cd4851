"""The partition of a request, if this broker leads it under the leader epoch that the client knows,
else an error (Kafka's ReplicaManager.getPartitionOrError); counts refused Produces and Fetches.

Kafka's FailedProduceRequestsPerSec and FailedFetchRequestsPerSec leave out what is expected of
clients now and then (ReplicaManager.appendToLocalLog, readFromLog); so do the counts here.
"""

from dataclasses import dataclass

from brokerd.cluster.metadata_image import MetadataImage
from brokerd.errors import ErrorCode, KafkaError
from brokerd.log.leader_epoch_file_cache import NO_EPOCH
from brokerd.metric_counters import BrokerMetrics
from brokerd.protocol.api_keys import ApiKey
from brokerd.replication.partition import Partition
from brokerd.replication.replica_manager import ReplicaManager

_EXPECTED = {
    ApiKey.PRODUCE: frozenset({
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.RECORD_LIST_TOO_LARGE, ErrorCode.CORRUPT_MESSAGE,
        ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.INVALID_REQUIRED_ACKS,
        ErrorCode.INVALID_TOPIC_EXCEPTION, ErrorCode.REQUEST_TIMED_OUT,
    }),
    ApiKey.FETCH: frozenset({
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.UNKNOWN_LEADER_EPOCH, ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.OFFSET_OUT_OF_RANGE, ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.INCONSISTENT_TOPIC_ID, ErrorCode.KAFKA_STORAGE_ERROR,
    }),
}  # fmt: skip
_TOO_LARGE = (ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.RECORD_LIST_TOO_LARGE)


@dataclass(frozen=True, slots=True)
class LedPartitions:
    image: MetadataImage
    replicas: ReplicaManager
    metrics: BrokerMetrics

    def get_partition_or_error(self, topic: str, index: int, leader_epoch: int = -1) -> Partition:
        """The partition, if this broker leads it; else KafkaError. `leader_epoch` is the client's;
        -1 is not checked."""
        partition = self.replicas.get(topic, index)
        if partition is None:
            if self.image.partition(topic, index) is not None:
                reason = self.replicas.offline.get((topic, index))
                if reason is not None:
                    raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, reason)
                raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER, f"{topic}-{index} is elsewhere")
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no {topic}-{index}")
        partition.require_leader()
        check_current_leader_epoch(leader_epoch, partition.leader_epoch)
        return partition

    def count_refusal(
        self, api: ApiKey, topic: str, index: int, error: int, size_bytes: int = 0
    ) -> None:
        """One partition of a request was refused; `size_bytes` is the size of a Produce's
        records."""
        metrics = self.metrics
        metrics.errors[api, int(error)] += 1
        if error in _TOO_LARGE:
            metrics.rejected_bytes += size_bytes
        if error in _EXPECTED[api]:
            return
        partition = self.replicas.get(topic, index)
        if api is ApiKey.PRODUCE:
            metrics.failed_produces += 1
            if partition is not None:
                partition.failed_produces += 1
        else:
            metrics.failed_fetches += 1
            if partition is not None:
                partition.failed_fetches += 1


def check_current_leader_epoch(requested: int, current: int) -> None:
    """Compares the leader epoch of a request (-1: none) with the partition's. Raises KafkaError:
    FENCED_LEADER_EPOCH for an older one (the client must refresh its metadata),
    UNKNOWN_LEADER_EPOCH for a newer one (this broker does not know it yet)."""
    if requested in (NO_EPOCH, current):
        return
    if requested < current:
        raise KafkaError(
            ErrorCode.FENCED_LEADER_EPOCH,
            f"leader epoch {requested} is over, the current one is {current}",
        )
    raise KafkaError(
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        f"leader epoch {requested} is not known here yet, the current one is {current}",
    )
