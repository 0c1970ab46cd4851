"""OffsetFetch v8: the committed offsets of many groups, as arrays.

    response v8 = throttle i32, groups[group s, topics[name s, partitions[index i32, offset i64,
                  epoch i32, metadata s?, error i16, tags], tags], error i16, tags], tags

It is a flexible version: lengths are unsigned varints of n + 1. A partition with empty metadata, as
nearly all have, takes exactly 20 bytes. If all entries of a topic have that size, they are read as
one array, else one by one.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from struct import Struct

import numpy as np

from brokerd.protocol import messages
from monitoring.gateway.wire import response_limits
from monitoring.gateway.wire.connection import CLIENT_ID
from monitoring.gateway.wire.cursor import AFTER_CORRELATION_ID, Cursor
from monitoring.gateway.wire.metadata import Ints, Longs
from monitoring.gateway.wire.response_limits import check_limit, remove_expected

API_KEY, VERSION = 9, 8

_ENTRY = np.dtype(
    [("index", ">i4"), ("offset", ">i8"), ("epoch", ">i4"), ("metadata", "u1"), ("error", ">i2"),
     ("tags", "u1")]
)  # fmt: skip
_HEAD = Struct(">iqi")
_FEW_PARTITIONS = 2  # up to this number, reading one by one is faster


@dataclass(frozen=True, slots=True, eq=False)
class TopicCommits:
    """The commits of one group on one topic; offset −1 = no commit."""

    topic: str
    partitions: Ints
    offsets: Longs


@dataclass(frozen=True, slots=True, eq=False)
class GroupCommits:
    """All commits of a group; `error` is Kafka's code, 0 = none."""

    group: str
    error: int
    topics: tuple[TopicCommits, ...]


def request(groups: Sequence[str], correlation_id: int) -> bytes:
    """The request frame for all commits of `groups`."""
    requested = [{"group_id": group, "topics": None} for group in groups]
    fields = {"groups": requested, "require_stable": False}
    return messages.encode_request(API_KEY, VERSION, fields, correlation_id, CLIENT_ID)


def decode(answer: bytes, requested: Collection[str]) -> list[GroupCommits]:
    """Decode the response for the groups `requested`, from its correlation id on.

    Raises KafkaError, struct.error or ValueError if it is malformed, OverLimit if it is too large
    or has other groups.
    """
    cursor = Cursor(answer, AFTER_CORRELATION_ID, flexible=True)
    cursor.skip_tags()
    cursor.skip(4)  # throttle time
    groups, topics_read = [], 0
    expected = set(requested)
    for _ in range(cursor.array_length(item_bytes_min=5)):
        group = cursor.text() or ""
        remove_expected(expected, group)
        topic_count = cursor.array_length(item_bytes_min=3)
        topics_read += topic_count
        check_limit(topics_read, response_limits.GROUP_TOPICS_MAX, "too_many_group_topics")
        topics = [_topic(cursor) for _ in range(topic_count)]
        error = cursor.i16()
        cursor.skip_tags()
        groups.append(GroupCommits(group, error, tuple(topics)))
    return groups


def _topic(cursor: Cursor) -> TopicCommits:
    name = cursor.text() or ""
    count = cursor.numpy_array_length(item_bytes_min=_ENTRY.itemsize)
    if count <= _FEW_PARTITIONS:
        return _topic_one_by_one(name, cursor, count)
    entries = np.frombuffer(cursor.data, dtype=_ENTRY, count=count, offset=cursor.at)
    if (entries["metadata"] > 1).any() or entries["tags"].any():
        cursor.count_items(count)
        return _topic_one_by_one(name, cursor, count)
    cursor.skip(count * _ENTRY.itemsize)
    cursor.skip_tags()
    valid = entries[entries["error"] == 0]
    return TopicCommits(name, valid["index"].astype(np.int32), valid["offset"].astype(np.int64))


def _topic_one_by_one(name: str, cursor: Cursor, count: int) -> TopicCommits:
    partitions, offsets = [], []
    for _ in range(count):
        index, offset, _epoch = _HEAD.unpack_from(cursor.data, cursor.skip(_HEAD.size))
        cursor.bytes()  # metadata
        error = cursor.i16()
        cursor.skip_tags()
        if error == 0:
            partitions.append(index)
            offsets.append(offset)
    cursor.skip_tags()
    return TopicCommits(
        name, np.array(partitions, dtype=np.int32), np.array(offsets, dtype=np.int64)
    )
