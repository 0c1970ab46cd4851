"""OffsetDelete v0: deletes the commits of a group, at its coordinator.

FindCoordinator v3 = throttle i32, error i16, message s?, node i32, host s, port i32, flexible
OffsetDelete v0    = error i16, throttle i32, topics[name s, partitions[index i32, error i16]]
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from brokerd.protocol import messages
from monitoring.gateway.topic_partition import TopicPartition
from monitoring.gateway.wire.connection import CLIENT_ID

COORDINATOR_KEY, COORDINATOR_VERSION = 10, 3
DELETE_KEY, DELETE_VERSION = 47, 0
_GROUP = 0  # the kind of coordinator


def coordinator_request(group: str, correlation_id: int) -> bytes:
    fields = {"key": group, "key_type": _GROUP}
    return messages.encode_request(
        COORDINATOR_KEY, COORDINATOR_VERSION, fields, correlation_id, CLIENT_ID
    )


def decode_coordinator(answer: bytes) -> tuple[int, str, int]:
    """(error code, host, port). Raises KafkaError."""
    found: Any = messages.decode_response(COORDINATOR_KEY, COORDINATOR_VERSION, answer)
    return int(found.error_code), found.host, found.port


def delete_request(group: str, partitions: Sequence[TopicPartition], correlation_id: int) -> bytes:
    topics = [
        {"name": topic, "partitions": [{"partition_index": number} for _topic, number in rows]}
        for topic, rows in groupby(sorted(partitions), key=lambda row: row[0])
    ]
    fields = {"group_id": group, "topics": topics}
    return messages.encode_request(DELETE_KEY, DELETE_VERSION, fields, correlation_id, CLIENT_ID)


def decode_delete(answer: bytes) -> tuple[int, dict[TopicPartition, int]]:
    """(error code, the error code of each partition). Raises KafkaError."""
    found: Any = messages.decode_response(DELETE_KEY, DELETE_VERSION, answer)
    codes = {
        (topic.name, row.partition_index): int(row.error_code)
        for topic in found.topics
        for row in topic.partitions
    }
    return int(found.error_code), codes
