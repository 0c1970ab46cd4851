"""ListOffsets requests and the partitions of their responses, by hand: monitoring asks for all
partitions of a broker at each sample, and kio lacks v0, which Burrow sends.

    request:   replica id i32, from v2 isolation level i8, topics with partitions: index i32,
               from v4 current leader epoch i32, timestamp i64, in v0 number of offsets i32
    partition of a response: index i32, error i16, in v0 an array of offsets i64, else
               timestamp i64, offset i64, from v4 leader epoch i32
"""

from collections.abc import Callable, Sequence
from functools import cache
from struct import Struct
from typing import Any, NamedTuple

from brokerd.protocol.api_keys import ApiKey, is_flexible
from brokerd.protocol.request_reader import RequestReader

_HEAD_V0, _HEAD_V2 = Struct(">i"), Struct(">ib")
_REQUEST_V0, _REQUEST_V1, _REQUEST_V4 = Struct(">iqi"), Struct(">iq"), Struct(">iiq")
_RESPONSE_V0, _RESPONSE_V1, _RESPONSE_V4 = Struct(">ihi"), Struct(">ihqq"), Struct(">ihqqi")
_RESPONSE_V6 = Struct(">ihqqiB")
"""With the number of tagged fields."""
_INT32, _NAME = Struct(">i"), Struct(">h")


class RequestedPartition(NamedTuple):
    """A partition, and a timestamp in ms or one of the special ones; in v0 also how many offsets at
    most."""

    partition_index: int
    current_leader_epoch: int
    timestamp: int
    max_num_offsets: int = 1


class RequestedTopic(NamedTuple):
    name: str
    partitions: tuple[RequestedPartition, ...]


class ListOffsetsRequest(NamedTuple):
    isolation_level: int
    topics: tuple[RequestedTopic, ...]


class OffsetsOfPartition(NamedTuple):
    """What a partition answers; v0 has several `offsets`, all others one."""

    partition_index: int
    error_code: int
    timestamp: int = -1
    offset: int = -1
    leader_epoch: int = -1
    offsets: Sequence[int] = ()


def decode_request(body: memoryview, version: int) -> ListOffsetsRequest:
    """Raises KafkaError if it does not parse."""
    reader = RequestReader(body, 0, is_flexible(ApiKey.LIST_OFFSETS, version))
    _, isolation_level = reader.struct(_HEAD_V2) if version >= 2 else (*reader.struct(_HEAD_V0), 0)
    topics = []
    for _ in range(reader.count()):
        name = reader.text() or ""
        topics.append(RequestedTopic(name, _partitions(reader, version)))
        reader.tags()
    reader.tags()
    return ListOffsetsRequest(isolation_level, tuple(topics))


def _partitions(reader: RequestReader, version: int) -> tuple[RequestedPartition, ...]:
    count = reader.count()
    if reader.flexible:
        found = []
        for _ in range(count):
            found.append(RequestedPartition(*reader.struct(_REQUEST_V4)))
            reader.tags()
        return tuple(found)
    if version >= 4:
        return tuple(RequestedPartition(*row) for row in reader.structs(_REQUEST_V4, count))
    rows = reader.structs(_REQUEST_V1 if version else _REQUEST_V0, count)
    return tuple(RequestedPartition(index, -1, *others) for index, *others in rows)


@cache
def partition_encoder(version: int) -> Callable[[OffsetsOfPartition], bytes]:
    """Encodes what a partition answers."""
    if version == 0:
        return _encode_v0
    if is_flexible(ApiKey.LIST_OFFSETS, version):
        return lambda answered: _RESPONSE_V6.pack(*answered[:5], 0)
    if version >= 4:
        return lambda answered: _RESPONSE_V4.pack(*answered[:5])
    return lambda answered: _RESPONSE_V1.pack(*answered[:4])


def _encode_v0(answered: OffsetsOfPartition) -> bytes:
    head = _RESPONSE_V0.pack(answered.partition_index, answered.error_code, len(answered.offsets))
    return head + b"".join(offset.to_bytes(8, "big", signed=True) for offset in answered.offsets)


def encode_v0_response(topics: list[dict[str, Any]]) -> bytes:
    """The body of a response v0; each topic has its `name` and its encoded `partitions`."""
    parts = [_INT32.pack(len(topics))]
    for topic in topics:
        name, partitions = topic["name"], topic["partitions"]
        encoded = name.encode()
        parts += [_NAME.pack(len(encoded)), encoded, _INT32.pack(len(partitions)), *partitions]
    return b"".join(parts)
