"""What the members of a consumer group say to each other: subscription and assignment.

    subscription  version int16, topics string[], user data bytes?,
                  from 1: owned partitions (topic string, partitions int32[])[],
                  from 2: generation int32, from 3: rack string?
    assignment    version int16, (topic string, partitions int32[])[], user data bytes?

Strings carry an int16 length, bytes and arrays an int32 (-1 = null). Versions above 3 add at the
end, so they are read as 3.
"""

from base64 import b64encode
from collections.abc import Callable
from typing import Any, TypeVar

from brokerd.protocol.framing import FRAME_SIZE, Reader, malformed
from brokerd.topic_partition import TopicPartition

T = TypeVar("T")
VERSION_MAX = 3


def subscription_json(data: bytes) -> dict[str, Any]:
    """A subscription as Kafka's dump tool shows it. Raises KafkaError."""
    reader = Reader(memoryview(data), 0, flexible=False)
    version = _version(reader)
    fields: dict[str, Any] = {"topics": _array(reader, _text), "userData": _bytes(reader)}
    if version >= 1:
        fields["ownedPartitions"] = _array(reader, _topic_partitions)
    if version >= 2:
        fields["generationId"] = reader.struct(FRAME_SIZE)[0]
    if version >= 3:
        fields["rackId"] = reader.text()
    return fields


def assignment_json(data: bytes) -> dict[str, Any]:
    """An assignment as Kafka's dump tool shows it. Raises KafkaError."""
    reader = Reader(memoryview(data), 0, flexible=False)
    _version(reader)
    return {"assignedPartitions": _array(reader, _topic_partitions), "userData": _bytes(reader)}


def assigned_partitions(data: bytes) -> list[TopicPartition]:
    """The partitions of an assignment; none where there is no assignment. Raises KafkaError."""
    if not data:
        return []
    topics = assignment_json(data)["assignedPartitions"]
    return [(each["topic"], partition) for each in topics for partition in each["partitions"]]


def _version(reader: Reader) -> int:
    version = int.from_bytes(reader.view[:2], signed=True)
    reader.position = 2
    if version < 0:
        raise malformed(f"version {version}")
    return min(version, VERSION_MAX)


def _array(reader: Reader, item: Callable[[Reader], T]) -> list[T]:
    return [item(reader) for _ in range(reader.count())]


def _text(reader: Reader) -> str:
    return reader.text() or ""


def _bytes(reader: Reader) -> str | None:
    data = reader.chunk(FRAME_SIZE)
    return None if data is None else b64encode(data).decode()


def _topic_partitions(reader: Reader) -> dict[str, Any]:
    topic = _text(reader)
    return {"topic": topic, "partitions": _array(reader, lambda r: r.struct(FRAME_SIZE)[0])}
