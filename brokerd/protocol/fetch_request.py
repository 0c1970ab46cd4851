"""Fetch requests v4-17, by hand, since they are hot. A topic has its name up to v12, its id from
v13.
"""

from dataclasses import dataclass, field
from struct import Struct
from struct import error as struct_error
from typing import Any, NamedTuple

from brokerd.protocol.api_keys import ApiKey, is_flexible
from brokerd.protocol.framing import malformed, skip_tags
from brokerd.protocol.request_reader import RequestReader
from brokerd.protocol.varint import read_uvarint

TOPIC_IDS_FROM = 13
REPLICA_STATE_FROM = 15

NO_SESSION = 0
INITIAL_EPOCH = 0
FINAL_EPOCH = -1
NO_TOPIC_ID = bytes(16)
READ_COMMITTED = 1
"""The isolation level that sees no open and no aborted transaction; ListOffsets has it, too."""

_HEAD_V4 = Struct(">iiiib")
_HEAD_V7 = Struct(">iiiibii")
_HEAD_V15 = Struct(">iiibii")
_INDEX = Struct(">i")
_INT16 = Struct(">h")
_PARTITION_V4 = Struct(">iqi")
_PARTITION_V5 = Struct(">iqqi")
_PARTITION_V9 = Struct(">iiqqi")
_PARTITION_V12 = Struct(">iiqiqiB")
"""With the first byte of the tagged fields, which is the last one if there are none."""

_REPLICA_STATE_TAG = 1

TopicIdPartition = tuple[str, bytes, int]
"""Topic name and id, and partition: the same in another request."""


class FetchPartition(NamedTuple):
    """One partition to read from; `leader_epoch` and `last_fetched_epoch` are -1 if not sent."""

    topic: str
    partition: int
    offset: int
    max_bytes: int
    leader_epoch: int = -1
    last_fetched_epoch: int = -1
    topic_id: bytes = NO_TOPIC_ID

    @property
    def key(self) -> TopicIdPartition:
        return self.topic, self.topic_id, self.partition


@dataclass(slots=True)
class FetchRequest:
    """A session epoch of -1 or 0 is a full request, any other an incremental one. `forgotten` are
    keys of partitions that leave the session. `offset_at` is where the last partition's offset is
    in the frame: a Fetch of one partition is repeated with another one."""

    replica_id: int
    max_wait_ms: int
    min_bytes: int
    max_bytes: int
    isolation_level: int
    session_id: int
    session_epoch: int
    partitions: list[FetchPartition] = field(default_factory=list)
    forgotten: list[TopicIdPartition] = field(default_factory=list)
    offset_at: int = field(default=-1, compare=False)


def decode_fetch(view: memoryview, position: int, version: int) -> FetchRequest:
    """The request whose body starts at `position` of a frame; KafkaError if it does not parse."""
    reader = RequestReader(view, position, is_flexible(ApiKey.FETCH, version))
    try:
        return _decode(reader, version)
    except (struct_error, IndexError):
        raise malformed("it ends too early") from None
    except UnicodeDecodeError:
        raise malformed("a string is not UTF-8") from None


def _decode(reader: RequestReader, version: int) -> FetchRequest:
    head: tuple[Any, ...]
    if version >= REPLICA_STATE_FROM:
        head = (-1, *reader.struct(_HEAD_V15))
    elif version >= 7:
        head = reader.struct(_HEAD_V7)
    else:
        head = (*reader.struct(_HEAD_V4), NO_SESSION, FINAL_EPOCH)
    request = FetchRequest(*head)
    for _ in range(reader.count()):
        topic, topic_id = _topic(reader, version)
        if reader.flexible:
            _partitions(reader, request, topic, topic_id)
        else:
            _legacy_partitions(reader, request, topic, version)
    if version >= 7:
        for _ in range(reader.count()):
            topic, topic_id = _topic(reader, version)
            rows = reader.structs(_INDEX, reader.count())
            request.forgotten += [(topic, topic_id, index) for (index,) in rows]
            reader.tags()
    if reader.flexible:
        reader.chunk(_INT16)  # the rack
        _last_tags(reader, request, version)
    return request


def _topic(reader: RequestReader, version: int) -> tuple[str, bytes]:
    if version >= TOPIC_IDS_FROM:
        start = reader.position
        reader.position = end = start + 16
        if end > len(reader.view):
            raise malformed("a topic is cut off")
        return "", bytes(reader.view[start:end])
    name = reader.chunk(_INT16)
    if name is None:
        raise malformed("a topic has no name")
    return str(name, "utf-8"), NO_TOPIC_ID


def _legacy_partitions(
    reader: RequestReader, request: FetchRequest, topic: str, version: int
) -> None:
    count = reader.count()
    if version >= 9:
        layout, offset_at = _PARTITION_V9, 8
        request.partitions += [
            FetchPartition(topic, index, offset, most, epoch)
            for index, epoch, offset, _, most in reader.structs(layout, count)
        ]
    else:
        layout, offset_at = (_PARTITION_V5 if version >= 5 else _PARTITION_V4), 4
        request.partitions += [
            FetchPartition(topic, row[0], row[1], row[-1]) for row in reader.structs(layout, count)
        ]
    if count:
        request.offset_at = reader.position - layout.size + offset_at


def _partitions(reader: RequestReader, request: FetchRequest, topic: str, topic_id: bytes) -> None:
    view = reader.view
    unpack, size = _PARTITION_V12.unpack_from, _PARTITION_V12.size
    for _ in range(reader.count()):
        start = reader.position
        index, epoch, offset, last_epoch, _, most, tags = unpack(view, start)
        reader.position = start + size
        if tags:
            reader.position -= 1
            reader.tags()
        request.partitions.append(
            FetchPartition(topic, index, offset, most, epoch, last_epoch, topic_id)
        )
        request.offset_at = start + 8
    reader.tags()


def _last_tags(reader: RequestReader, request: FetchRequest, version: int) -> None:
    """The request's own tagged fields: of a replica that asks, who it is."""
    view, position = reader.view, reader.position
    if view[position] == 0:
        return
    end = skip_tags(view, position)
    if version < REPLICA_STATE_FROM:
        return
    _, position = read_uvarint(view, position)
    while position < end:
        tag, position = read_uvarint(view, position)
        size, position = read_uvarint(view, position)
        if tag == _REPLICA_STATE_TAG and size >= 4:
            (request.replica_id,) = _INDEX.unpack_from(view, position)
        position += size
