"""ListOffsets v0, which answers with several offsets of a partition. Burrow sends it; kio lacks it.

Request: replica id, then topics with partitions (index i32, timestamp i64, highest number of
offsets i32). Response: topics with partitions (index i32, error i16, array of i64).
"""

from struct import Struct
from typing import Any, NamedTuple

from brokerd.protocol.request_reader import RequestReader

_INT32 = Struct(">i")
_PARTITION = Struct(">iqi")
_ANSWER = Struct(">ihi")
_NAME = Struct(">h")


class RequestedPartition(NamedTuple):
    """A partition, a timestamp in ms (-1 latest, -2 earliest), and how many offsets at most."""

    partition_index: int
    timestamp: int
    max_num_offsets: int


RequestedTopic = tuple[str, list[RequestedPartition]]


def decode_request(body: memoryview) -> list[RequestedTopic]:
    """The topics of a request. Raises KafkaError where it does not parse."""
    reader = RequestReader(body, 0, flexible=False)
    reader.struct(_INT32)
    return [
        (
            reader.text() or "",
            [RequestedPartition(*reader.struct(_PARTITION)) for _ in range(reader.count())],
        )
        for _ in range(reader.count())
    ]


def encode_partition(fields: dict[str, Any]) -> bytes:
    """The answer for one partition: `partition_index`, `error_code`, and `offsets` if there are."""
    offsets = fields.get("offsets") or []
    head = _ANSWER.pack(fields["partition_index"], fields["error_code"], len(offsets))
    return head + b"".join(offset.to_bytes(8, "big", signed=True) for offset in offsets)


def encode_response(topics: list[dict[str, Any]]) -> bytes:
    """The body of a response; each topic has its `name` and its encoded `partitions`."""
    parts = [_INT32.pack(len(topics))]
    for topic in topics:
        name, partitions = topic["name"], topic["partitions"]
        encoded = name.encode()
        parts += [_NAME.pack(len(encoded)), encoded, _INT32.pack(len(partitions)), *partitions]
    return b"".join(parts)
