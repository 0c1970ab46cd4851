"""Whether a partition of a Produce may be written to: acks, leader, min.insync.replicas (Kafka's
Partition.appendRecordsToLeader).

Its batches are checked after that (`log/log_validator/validate_messages.py`).
"""

from brokerd.cluster.topic_names import INTERNAL_TOPICS
from brokerd.errors import ErrorCode, InvalidProduceRecordsError, KafkaError
from brokerd.protocol.framing import RequestHeader
from brokerd.protocol.produce_request import PartitionRecords, ProduceRequest
from brokerd.replication.partition import Partition
from brokerd.server.produce.produce_metadata import ACKS_ALL
from brokerd.server.requests.get_partition_or_error import LedPartitions

ACKS = (-1, 0, 1)
ADMIN_CLIENT_ID = "__admin_client"
"""The one client that may write to internal topics, as in Kafka (AdminUtils)."""


def writable_partition(
    led: LedPartitions, request: ProduceRequest, wanted: PartitionRecords, header: RequestHeader
) -> Partition:
    """The partition of these records, if it may be written to. Raises KafkaError."""
    if request.acks not in ACKS or wanted.topic in INTERNAL_TOPICS:
        _check_acks_and_topic(led, request, wanted, header)
    partition = led.get_partition_or_error(wanted.topic, wanted.partition)
    if wanted.records is None:
        raise InvalidProduceRecordsError(ErrorCode.INVALID_RECORD, "no records were sent")
    if request.transactional_id is not None:
        raise KafkaError(ErrorCode.INVALID_TXN_STATE, "transactions are not served yet")
    if request.acks == ACKS_ALL and partition.is_under_min_isr:
        raise KafkaError(
            ErrorCode.NOT_ENOUGH_REPLICAS, f"fewer than {partition.min_isr} are in sync"
        )
    return partition


def _check_acks_and_topic(
    led: LedPartitions, request: ProduceRequest, wanted: PartitionRecords, header: RequestHeader
) -> None:
    """Raises KafkaError for an unknown acks or an internal topic, in Kafka's order."""
    topic, index = wanted.topic, wanted.partition
    if led.image.partition(topic, index) is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no {topic}-{index}")
    if request.acks not in ACKS:
        raise KafkaError(ErrorCode.INVALID_REQUIRED_ACKS, f"acks={request.acks}")
    if header.client_id != ADMIN_CLIENT_ID:
        raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"{topic} is internal")
