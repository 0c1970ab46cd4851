"""AlterPartitionReassignments v0, ListPartitionReassignments v0 and ElectLeaders v1, which the
controller answers; and DescribeLogDirs of chosen partitions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from brokerd.protocol import messages
from monitoring.gateway import request_timeouts
from monitoring.gateway.topic_partition import TopicPartition
from monitoring.gateway.wire import response_limits
from monitoring.gateway.wire.connection import CLIENT_ID
from monitoring.gateway.wire.response_limits import check_limit, printable

ALTER_KEY, ALTER_VERSION = 45, 0
LIST_KEY, LIST_VERSION = 46, 0
ELECT_KEY, ELECT_VERSION = 43, 1
LOG_DIRS_KEY = 35
NAMES = {
    ALTER_KEY: "AlterPartitionReassignments",
    LIST_KEY: "ListPartitionReassignments",
    ELECT_KEY: "ElectLeaders",
}
_PREFERRED = 0

Failures = dict[TopicPartition, tuple[int, str]]  # error code, message


@dataclass(frozen=True, slots=True)
class Reassignment:
    """A partition that is being reassigned: its replicas now, and those that come and go."""

    topic: str
    partition: int
    replicas: tuple[int, ...]
    adding: tuple[int, ...]
    removing: tuple[int, ...]


def alter_request(
    targets: Mapping[TopicPartition, Sequence[int] | None], correlation_id: int
) -> bytes:
    """Start reassignments to these replicas; None cancels the one in progress."""
    topics = [
        {
            "name": topic,
            "partitions": [
                {"partition_index": number, "replicas": _tuple(targets[topic, number])}
                for _topic, number in keys
            ],
        }
        for topic, keys in groupby(sorted(targets), key=lambda key: key[0])
    ]
    fields = {"timeout": request_timeouts.CONTROLLER_WAIT_MS, "topics": topics}
    return messages.encode_request(ALTER_KEY, ALTER_VERSION, fields, correlation_id, CLIENT_ID)


def decode_alter(answer: bytes) -> tuple[int, str, Failures]:
    """(error code, message, failures). Raises KafkaError."""
    found: Any = messages.decode_response(ALTER_KEY, ALTER_VERSION, answer)
    failures = {
        (topic.name, row.partition_index): (int(row.error_code), row.error_message or "")
        for topic in found.responses
        for row in topic.partitions
        if row.error_code
    }
    return int(found.error_code), found.error_message or "", failures


def list_request(correlation_id: int) -> bytes:
    """All reassignments in progress."""
    fields = {"timeout": request_timeouts.CONTROLLER_WAIT_MS, "topics": None}
    return messages.encode_request(LIST_KEY, LIST_VERSION, fields, correlation_id, CLIENT_ID)


def decode_list(answer: bytes) -> tuple[int, str, list[Reassignment]]:
    """(error code, message, reassignments). Raises KafkaError or OverLimit."""
    found: Any = messages.decode_response(LIST_KEY, LIST_VERSION, answer)
    rows = [
        Reassignment(
            printable(topic.name, response_limits.TOPIC_LENGTH_MAX),
            row.partition_index,
            tuple(row.replicas),
            tuple(row.adding_replicas),
            tuple(row.removing_replicas),
        )
        for topic in found.topics
        for row in topic.partitions
    ]
    check_limit(len(rows), response_limits.PARTITIONS_MAX, "too_many_partitions")
    return int(found.error_code), found.error_message or "", rows


def elect_request(partitions: Sequence[TopicPartition], correlation_id: int) -> bytes:
    """Make the preferred replicas of these partitions their leaders."""
    topics = [
        {"topic": topic, "partitions": [number for _topic, number in keys]}
        for topic, keys in groupby(sorted(partitions), key=lambda key: key[0])
    ]
    fields = {
        "election_type": _PREFERRED,
        "topic_partitions": topics,
        "timeout": request_timeouts.CONTROLLER_WAIT_MS,
    }
    return messages.encode_request(ELECT_KEY, ELECT_VERSION, fields, correlation_id, CLIENT_ID)


def decode_elect(answer: bytes) -> tuple[int, str, Failures]:
    """(error code, "", failures). Raises KafkaError."""
    found: Any = messages.decode_response(ELECT_KEY, ELECT_VERSION, answer)
    failures = {
        (topic.topic, row.partition_id): (int(row.error_code), row.error_message or "")
        for topic in found.replica_election_results
        for row in topic.partition_result
        if row.error_code
    }
    return int(found.error_code), "", failures


def sizes_request(partitions: Sequence[TopicPartition], version: int, correlation_id: int) -> bytes:
    topics = [
        {"topic": topic, "partitions": [number for _topic, number in keys]}
        for topic, keys in groupby(sorted(partitions), key=lambda key: key[0])
    ]
    return messages.encode_request(
        LOG_DIRS_KEY, version, {"topics": topics}, correlation_id, CLIENT_ID
    )


def decode_sizes(answer: bytes, version: int) -> tuple[dict[TopicPartition, int], int | None]:
    """The sizes of the replicas of a broker, and the free bytes of its disks; None = unknown.

    Raises KafkaError.
    """
    found: Any = messages.decode_response(LOG_DIRS_KEY, version, answer)
    sizes = {
        (topic.name, row.partition_index): int(row.partition_size)
        for directory in found.results
        for topic in directory.topics
        for row in topic.partitions
        if not row.is_future_key
    }
    free = [int(getattr(directory, "usable_bytes", -1)) for directory in found.results]
    return sizes, sum(free) if free and min(free) >= 0 else None


def _tuple(replicas: Sequence[int] | None) -> tuple[int, ...] | None:
    return None if replicas is None else tuple(replicas)
