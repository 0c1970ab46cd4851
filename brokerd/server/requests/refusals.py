"""Counting what was refused of Produce and Fetch, by partition and by error.

Kafka's FailedProduceRequestsPerSec and FailedFetchRequestsPerSec leave out what is expected of
clients now and then (ReplicaManager.appendToLocalLog, readFromLog); so do the counts here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brokerd.errors import ErrorCode
from brokerd.protocol.api_keys import ApiKey

if TYPE_CHECKING:
    from brokerd.server.broker import Broker

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


def count_refusal(
    broker: Broker, api: ApiKey, topic: str, index: int, error: int, size_bytes: int = 0
) -> None:
    """One partition of a request was refused; `size_bytes` are those of a Produce's records."""
    metrics = broker.metrics
    metrics.errors[api, int(error)] += 1
    if error in _TOO_LARGE:
        metrics.rejected_bytes += size_bytes
    if error in _EXPECTED[api]:
        return
    partition = broker.replicas.get(topic, index)
    if api is ApiKey.PRODUCE:
        metrics.failed_produces += 1
        if partition is not None:
            partition.failed_produces += 1
    else:
        metrics.failed_fetches += 1
        if partition is not None:
            partition.failed_fetches += 1
