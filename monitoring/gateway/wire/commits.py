"""OffsetFetch v8: the committed offsets of many groups from their coordinator, as arrays.

    response v8 = throttle i32, groups[group s, topics[name s, partitions[index i32, offset i64,
                  epoch i32, metadata s?, error i16, tags], tags], error i16, tags], tags

Flexible: lengths are unsigned varints of n + 1. A partition whose metadata is empty, which is
nearly every one, is exactly 20 bytes, so a topic's partitions are read as one array if every
entry proves to have that shape, else one by one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from struct import Struct

import numpy as np

from brokerd.protocol import messages
from brokerd.protocol.framing import skip_tags
from brokerd.protocol.varint import read_uvarint
from monitoring.gateway.wire.connection import CLIENT_ID
from monitoring.gateway.wire.metadata import Ints, Longs

API_KEY, VERSION = 9, 8

_TOLD = np.dtype(
    [("index", ">i4"), ("offset", ">i8"), ("epoch", ">i4"), ("metadata", "u1"), ("error", ">i2"),
     ("tags", "u1")]
)  # fmt: skip
_HEAD, _ERROR = Struct(">iqi"), Struct(">h")


@dataclass(frozen=True, slots=True, eq=False)
class TopicCommits:
    """What one group committed on one topic; an offset of −1 = nothing."""

    topic: str
    partitions: Ints
    offsets: Longs


@dataclass(frozen=True, slots=True, eq=False)
class GroupCommits:
    """Every commit of a group; `error` is Kafka's code, 0 = all is well."""

    group: str
    error: int
    topics: tuple[TopicCommits, ...]


def request(groups: Sequence[str], correlation_id: int) -> bytes:
    """A whole frame that asks for everything `groups` have committed."""
    asked = [{"group_id": group, "topics": None} for group in groups]
    fields = {"groups": asked, "require_stable": False}
    return messages.encode_request(API_KEY, VERSION, fields, correlation_id, CLIENT_ID)


def decode(answer: bytes) -> list[GroupCommits]:
    """The answer, from its correlation id on; KafkaError, struct.error, ValueError if torn."""
    count, at = read_uvarint(answer, 5 + 4)
    groups = []
    for _ in range(count - 1):
        group, at = _text(answer, at)
        topic_count, at = read_uvarint(answer, at)
        topics = []
        for _ in range(topic_count - 1):
            topic, at = _topic(answer, at)
            topics.append(topic)
        (error,) = _ERROR.unpack_from(answer, at)
        at = skip_tags(answer, at + 2)
        groups.append(GroupCommits(group, error, tuple(topics)))
    return groups


def _topic(answer: bytes, at: int) -> tuple[TopicCommits, int]:
    name, at = _text(answer, at)
    count, at = read_uvarint(answer, at)
    count = max(count - 1, 0)
    end = at + count * _TOLD.itemsize
    if end <= len(answer):
        told = np.frombuffer(answer, dtype=_TOLD, count=count, offset=at)
        if (told["metadata"] <= 1).all() and not told["tags"].any():
            good = told[told["error"] == 0]
            commits = TopicCommits(
                name, good["index"].astype(np.int32), good["offset"].astype(np.int64)
            )
            return commits, skip_tags(answer, end)
    return _topic_one_by_one(name, answer, at, count)


def _topic_one_by_one(name: str, answer: bytes, at: int, count: int) -> tuple[TopicCommits, int]:
    partitions, offsets = [], []
    for _ in range(count):
        index, offset, _epoch = _HEAD.unpack_from(answer, at)
        _metadata, at = _text(answer, at + _HEAD.size)
        (error,) = _ERROR.unpack_from(answer, at)
        at = skip_tags(answer, at + 2)
        if error == 0:
            partitions.append(index)
            offsets.append(offset)
    commits = TopicCommits(
        name, np.array(partitions, dtype=np.int32), np.array(offsets, dtype=np.int64)
    )
    return commits, skip_tags(answer, at)


def _text(data: bytes, at: int) -> tuple[str, int]:
    size, at = read_uvarint(data, at)
    end = at + max(size - 1, 0)
    return data[at:end].decode(), end
