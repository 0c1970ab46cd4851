"""ListOffsets v2: the offsets of all partitions that a broker leads, in one request, as an array.

    request v2  = replica i32 (-1), isolation i8, topics[name s,
                  partitions[index i32, timestamp i64]]
    response v2 = throttle i32, topics[name s,
                  partitions[index i32, error i16, timestamp i64, offset i64]]

The code makes a few NumPy calls per topic and none per partition.
"""

from struct import Struct

import numpy as np

from monitoring.error_reason import Reason
from monitoring.gateway.wire import response_limits
from monitoring.gateway.wire.cursor import AFTER_THROTTLE_TIME, Cursor
from monitoring.gateway.wire.metadata import Longs, Metadata
from monitoring.gateway.wire.response_limits import InvalidParts, check_limit, printable

API_KEY, VERSION = 2, 2
LATEST, EARLIEST = -1, -2
UNKNOWN = -1  # in all arrays of this package

_HEAD = Struct(">ibi")
_NO_REPLICA, _READ_UNCOMMITTED = -1, 0
_REQUEST_ENTRY = np.dtype([("index", ">i4"), ("timestamp", ">i8")])
_ENTRY = np.dtype([("index", ">i4"), ("error", ">i2"), ("timestamp", ">i8"), ("offset", ">i8")])
_I16, _I32 = Struct(">h"), Struct(">i")


def request_body(metadata: Metadata, leader: int, timestamp: int) -> bytes:
    """The request body for all partitions of `leader`."""
    rows = np.flatnonzero(metadata.leaders == leader)
    entries = np.empty(len(rows), dtype=_REQUEST_ENTRY)
    entries["index"] = metadata.partition_of_row()[rows]
    entries["timestamp"] = timestamp
    topics, counts = np.unique(metadata.topic_of_row()[rows], return_counts=True)
    head = _HEAD.pack(_NO_REPLICA, _READ_UNCOMMITTED, len(topics))
    packed, parts, start = entries.tobytes(), [head], 0
    for topic, count in zip(topics.tolist(), counts.tolist(), strict=True):
        name = metadata.topics[topic].encode()
        end = start + count * _REQUEST_ENTRY.itemsize
        parts += (_I16.pack(len(name)), name, _I32.pack(count), packed[start:end])
        start = end
    return b"".join(parts)


def decode_into(
    offsets: Longs, metadata: Metadata, leader: int, answer: bytes, invalid: InvalidParts
) -> None:
    """Put the response of `leader` into `offsets` (by row); partitions with an error do not change.

    Partitions that it does not lead and invalid values are ignored. Raises struct.error or
    ValueError if the response is malformed, OverLimit if it is too large.
    """
    cursor, names, topic_rows, counts, parts = Cursor(answer, AFTER_THROTTLE_TIME), [], [], [], []
    check_limit(
        topics := cursor.array_length(item_bytes_min=6),
        response_limits.TOPICS_MAX,
        "too_many_topics",
    )
    partitions, view = 0, memoryview(answer)
    for _ in range(topics):
        name = cursor.text() or ""
        count = cursor.numpy_array_length(item_bytes_min=_ENTRY.itemsize)
        check_limit(
            partitions := partitions + count, response_limits.PARTITIONS_MAX, "too_many_partitions"
        )
        start = cursor.skip(count * _ENTRY.itemsize)
        if name in metadata.rows_by_topic:
            names.append(name)
            topic_rows.append(metadata.rows_by_topic[name])
            counts.append(count)
            parts.append(view[start : start + count * _ENTRY.itemsize])
    if not names:
        return
    # Joined as bytes: NumPy takes 10 times as long to concatenate arrays of records.
    entries = np.frombuffer(b"".join(parts), _ENTRY)
    index, offset = entries["index"].astype(np.int64), entries["offset"].astype(np.int64)
    rows = np.repeat([each.start for each in topic_rows], counts) + index
    answered = entries["error"] == 0
    lengths = np.repeat([len(each) for each in topic_rows], counts)
    valid = answered & (index >= 0) & (index < lengths)
    valid[valid] = metadata.leaders[rows[valid]] == leader
    valid &= offset <= response_limits.OFFSET_MAX
    for topic in np.unique(np.repeat(np.arange(len(names)), counts)[answered & ~valid]).tolist():
        invalid.add(Reason("topic_offsets", topic=printable(names[topic])))
    offsets[rows[valid]] = offset[valid]
