"""ListOffsets v2 for all partitions that one broker leads, in one request, into an array.

    request v2  = replica i32 (-1), isolation i8, topics[name s,
                  partitions[index i32, timestamp i64]]
    response v2 = throttle i32, topics[name s,
                  partitions[index i32, error i16, timestamp i64, offset i64]]

At 40,000 partitions the work is a few NumPy calls per topic, none per partition.
"""

from struct import Struct

import numpy as np

from monitoring.gateway.wire import limits
from monitoring.gateway.wire.cursor import Cursor
from monitoring.gateway.wire.limits import Refusals, shown, within
from monitoring.gateway.wire.metadata import Longs, Metadata

API_KEY, VERSION = 2, 2
LATEST, EARLIEST = -1, -2
UNKNOWN = -1  # in every array of this package: not told

_HEAD = Struct(">ibi")
_ASKED = np.dtype([("index", ">i4"), ("timestamp", ">i8")])
_TOLD = np.dtype([("index", ">i4"), ("error", ">i2"), ("timestamp", ">i8"), ("offset", ">i8")])
_I16, _I32 = Struct(">h"), Struct(">i")


def request_body(metadata: Metadata, leader: int, timestamp: int) -> bytes | None:
    """The body that asks `leader` for all it leads; None when it leads nothing."""
    rows = np.flatnonzero(metadata.leaders == leader)
    if not len(rows):
        return None
    asked = np.empty(len(rows), dtype=_ASKED)
    asked["index"] = metadata.partition_of_row()[rows]
    asked["timestamp"] = timestamp
    topics, counts = np.unique(metadata.topic_of_row()[rows], return_counts=True)
    packed, parts, at = asked.tobytes(), [_HEAD.pack(-1, 0, len(topics))], 0
    for topic, count in zip(topics.tolist(), counts.tolist(), strict=True):
        name = metadata.topics[topic].encode()
        end = at + count * _ASKED.itemsize
        parts += (_I16.pack(len(name)), name, _I32.pack(count), packed[at:end])
        at = end
    return b"".join(parts)


def decode_into(
    offsets: Longs, metadata: Metadata, leader: int, answer: bytes, refused: Refusals
) -> None:
    """Put what `leader` tells into `offsets` (by row); a partition with an error stays as it is.

    What it does not lead, or cannot have, is not taken. Raises struct.error or ValueError if the
    answer is torn, OverLimit if it tells of too much.
    """
    cursor = Cursor(answer, 8)
    within(topics := cursor.count(6), limits.TOPICS_MAX, "topics")
    for _ in range(topics):
        name = cursor.text() or ""
        count = cursor.count(_TOLD.itemsize)
        told = np.frombuffer(answer, _TOLD, count, cursor.skip(count * _TOLD.itemsize))
        rows = metadata.spans.get(name)
        if rows is None:
            continue
        told = told[told["error"] == 0]
        index, offset = told["index"].astype(np.int64), told["offset"].astype(np.int64)
        asked = (index >= 0) & (index < len(rows))
        asked[asked] = metadata.leaders[rows.start + index[asked]] == leader
        kept = asked & (offset <= limits.OFFSET_MAX)
        if not kept.all():
            refused.add(f"topic {shown(name)}: offsets that cannot be true")
        offsets[rows.start + index[kept]] = offset[kept]
