"""Subscription and assignment of consumers: what a group's members send each other.

    subscription  version int16, topics string[], user data bytes?,
                  from 1: owned partitions (topic string, partitions int32[])[],
                  from 2: generation int32, from 3: rack string?
    assignment    version int16, (topic string, partitions int32[])[], user data bytes?

Later versions append fields, so that they are read as version 3.
"""

from base64 import b64encode
from typing import Any

from brokerd.protocol.internal_value_reader import ValueReader
from brokerd.topic_partition import TopicPartition


def subscription_json(data: bytes) -> dict[str, Any]:
    """A subscription as Kafka's dump tool shows it. Raises ValueError."""
    reader = ValueReader(data)
    version = reader.int16()
    topics = [reader.string() for _ in range(reader.int32())]
    fields: dict[str, Any] = {"topics": topics, "userData": _user_data(reader)}
    if version >= 1:
        fields["ownedPartitions"] = _partitions(reader)
    if version >= 2:
        fields["generationId"] = reader.int32()
    if version >= 3:
        fields["rackId"] = reader.nullable_string()
    return fields


def assignment_json(data: bytes) -> dict[str, Any]:
    """An assignment as Kafka's dump tool shows it. Raises ValueError."""
    reader = ValueReader(data)
    reader.int16()
    return {"assignedPartitions": _partitions(reader), "userData": _user_data(reader)}


def assigned_partitions(data: bytes) -> list[TopicPartition]:
    """The partitions of an assignment; none where there is no assignment. Raises ValueError."""
    topics = assignment_json(data)["assignedPartitions"] if data else []
    return [(each["topic"], partition) for each in topics for partition in each["partitions"]]


def _partitions(reader: ValueReader) -> list[dict[str, Any]]:
    return [
        {"topic": reader.string(), "partitions": [reader.int32() for _ in range(reader.int32())]}
        for _ in range(reader.int32())
    ]


def _user_data(reader: ValueReader) -> str | None:
    data = reader.nullable_bytes()
    return None if data is None else b64encode(data).decode()
