"""Fetch requests v4-17, by hand, because every consumer asks all the time.

Topics go by name up to version 12 and by id from 13 on; here a topic has the one or the other.
"""

from dataclasses import dataclass, field
from struct import Struct
from struct import error as struct_error
from typing import NamedTuple

from brokerd.protocol.framing import malformed, skip_tags
from brokerd.protocol.schema_check import ITEMS_MAX
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

_Head = tuple[int, int, int, int, int, int, int]
"""All fields of a request before its partitions, in the order of FetchRequest."""


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
    def key(self) -> tuple[str, bytes, int]:
        """The same partition in another request has the same key."""
        return self.topic, self.topic_id, self.partition


@dataclass(slots=True)
class FetchRequest:
    """A whole Fetch. A session epoch of -1 or 0 is a full request, any other an incremental one.

    `forgotten` are keys of partitions that leave the session. `offset_at` is where the last
    partition's offset stands in the frame: a Fetch of one partition is repeated with another one.
    """

    replica_id: int
    max_wait_ms: int
    min_bytes: int
    max_bytes: int
    isolation_level: int
    session_id: int
    session_epoch: int
    partitions: list[FetchPartition]
    forgotten: list[tuple[str, bytes, int]]
    offset_at: int = field(default=-1, compare=False)


def decode_fetch(view: memoryview, position: int, version: int) -> FetchRequest:
    """The request whose body starts at `position` of a frame; KafkaError if it does not parse."""
    try:
        if version >= 12:
            return _Flexible(view, position).request(version)
        return _decode_legacy(view, position, version)
    except (struct_error, IndexError):
        raise malformed("it ends too early") from None
    except UnicodeDecodeError:
        raise malformed("a string is not UTF-8") from None


def _within(count: int, least_bytes: int, view: memoryview, position: int, before: int) -> int:
    """How many items there are now, after `before`: no more than the bytes, or the limit, allow.

    A count of -1 is an array that is not there.
    """
    if count < -1:
        raise malformed(f"an array cannot have {count} items")
    count = max(count, 0)
    if count * least_bytes > len(view) - position:
        raise malformed("an array is longer than the request")
    if before + count > ITEMS_MAX:
        raise malformed(f"its arrays have more than {ITEMS_MAX} items")
    return before + count


def _legacy_text(view: memoryview, position: int) -> tuple[str, int]:
    (size,) = _INT16.unpack_from(view, position)
    end = position + 2 + size
    if size < 0 or end > len(view):
        raise malformed("a name is missing or cut off")
    return str(view[position + 2 : end], "utf-8"), end


def _decode_legacy(view: memoryview, position: int, version: int) -> FetchRequest:
    head: _Head
    if version >= 7:
        head = _HEAD_V7.unpack_from(view, position)
        position += _HEAD_V7.size
    else:
        head = (*_HEAD_V4.unpack_from(view, position), NO_SESSION, FINAL_EPOCH)
        position += _HEAD_V4.size
    (topics,) = _INDEX.unpack_from(view, position)
    position += 4
    items = _within(topics, 6, view, position, 0)
    partitions: list[FetchPartition] = []
    offset_at = -1
    for _ in range(topics):
        topic, position = _legacy_text(view, position)
        (count,) = _INDEX.unpack_from(view, position)
        position += 4
        layout = _PARTITION_V9 if version >= 9 else _PARTITION_V5 if version >= 5 else _PARTITION_V4
        items = _within(count, layout.size, view, position, items)
        end = position + max(count, 0) * layout.size
        rows = layout.iter_unpack(view[position:end])
        if version >= 9:
            partitions += [FetchPartition(topic, i, o, size, e) for i, e, o, _, size in rows]
        else:
            partitions += [FetchPartition(topic, row[0], row[1], row[-1]) for row in rows]
        position = end
        if count > 0:
            offset_at = end - layout.size + (8 if version >= 9 else 4)
    forgotten: list[tuple[str, bytes, int]] = []
    if version >= 7:
        forgotten = _legacy_forgotten(view, position, items)
    return FetchRequest(*head, partitions, forgotten, offset_at)


def _legacy_forgotten(view: memoryview, position: int, items: int) -> list[tuple[str, bytes, int]]:
    forgotten = []
    (topics,) = _INDEX.unpack_from(view, position)
    if not topics:
        return []
    position += 4
    items = _within(topics, 6, view, position, items)
    for _ in range(topics):
        topic, position = _legacy_text(view, position)
        (count,) = _INDEX.unpack_from(view, position)
        position += 4
        items = _within(count, 4, view, position, items)
        end = position + max(count, 0) * 4
        forgotten += [(topic, NO_TOPIC_ID, i) for (i,) in _INDEX.iter_unpack(view[position:end])]
        position = end
    return forgotten


class _Flexible:
    """A cursor over a request of version 12 or later."""

    __slots__ = ("items", "offset_at", "position", "view")

    def __init__(self, view: memoryview, position: int) -> None:
        self.view = view
        self.position = position
        self.items = 0
        self.offset_at = -1

    def _length(self) -> int:
        length = self.view[self.position]
        if length < 0x80:
            self.position += 1
        else:
            length, self.position = read_uvarint(self.view, self.position)
        return length - 1

    def _count(self, least_bytes: int) -> int:
        count = self._length()
        self.items = _within(count, least_bytes, self.view, self.position, self.items)
        return count

    def _tags(self) -> None:
        if self.view[self.position] == 0:
            self.position += 1
        else:
            self._skip_tags(self.position)

    def _skip_tags(self, position: int) -> None:
        count, behind = read_uvarint(self.view, position)
        self.items = _within(count, 2, self.view, behind, self.items)
        self.position = skip_tags(self.view, position)

    def _topic(self, version: int) -> tuple[str, bytes]:
        """(name, no id) or (no name, id)."""
        size = 16 if version >= TOPIC_IDS_FROM else self._length()
        start = self.position
        self.position = end = start + size
        if size < 0 or end > len(self.view):
            raise malformed("a topic is missing or cut off")
        if version >= TOPIC_IDS_FROM:
            return "", bytes(self.view[start:end])
        return str(self.view[start:end], "utf-8"), NO_TOPIC_ID

    def request(self, version: int) -> FetchRequest:
        head: _Head
        if version >= REPLICA_STATE_FROM:
            head = (-1, *_HEAD_V15.unpack_from(self.view, self.position))
            self.position += _HEAD_V15.size
        else:
            head = _HEAD_V7.unpack_from(self.view, self.position)
            self.position += _HEAD_V7.size
        partitions: list[FetchPartition] = []
        for _ in range(self._count(3)):
            self._partitions(version, partitions)
        forgotten: list[tuple[str, bytes, int]] = []
        for _ in range(self._count(3)):
            topic, topic_id = self._topic(version)
            end = self._count(4) * 4 + self.position
            rows = _INDEX.iter_unpack(self.view[self.position : end])
            forgotten += [(topic, topic_id, index) for (index,) in rows]
            self.position = max(end, self.position)
            self._tags()
        rack_bytes = self._length()
        self.position += max(rack_bytes, 0)
        request = FetchRequest(*head, partitions, forgotten, self.offset_at)
        self._last_tags(request, version)
        return request

    def _partitions(self, version: int, partitions: list[FetchPartition]) -> None:
        topic, topic_id = self._topic(version)
        view = self.view
        unpack, size = _PARTITION_V12.unpack_from, _PARTITION_V12.size
        count = self._count(size)
        for _ in range(count):
            start = self.position
            index, epoch, offset, last_epoch, _, most, tags = unpack(view, start)
            self.position = start + size
            if tags:
                self._skip_tags(self.position - 1)
            partitions.append(
                FetchPartition(topic, index, offset, most, epoch, last_epoch, topic_id)
            )
        if count > 0:
            self.offset_at = start + 8
        self._tags()

    def _last_tags(self, request: FetchRequest, version: int) -> None:
        """The request's own tagged fields: of a replica that asks, who it is."""
        number = self.view[self.position]
        if number == 0:
            return
        end = skip_tags(self.view, self.position)
        if version < REPLICA_STATE_FROM:
            return
        number, self.position = read_uvarint(self.view, self.position)
        while self.position < end:
            tag, self.position = read_uvarint(self.view, self.position)
            size, self.position = read_uvarint(self.view, self.position)
            if tag == _REPLICA_STATE_TAG and size >= 4:
                (request.replica_id,) = _INDEX.unpack_from(self.view, self.position)
            self.position += size
