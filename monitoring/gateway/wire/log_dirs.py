"""DescribeLogDirs v1: bytes on disk of every replica a broker holds, into arrays.

request v1  = topics null (all)
response v1 = throttle i32, results[error i16, dir s,
              topics[name s, partitions[index i32, size i64, lag i64, future i8]]]
"""

import numpy as np

from monitoring.gateway.wire import limits
from monitoring.gateway.wire.cursor import Cursor
from monitoring.gateway.wire.limits import within
from monitoring.gateway.wire.reads import ClusterReads

API_KEY, VERSION = 35, 1
REQUEST_BODY = b"\xff\xff\xff\xff"

_TOLD = np.dtype([("index", ">i4"), ("size", ">i8"), ("lag", ">i8"), ("future", "i1")])


def decode_into(reads: ClusterReads, broker: int, answer: bytes) -> None:
    """Put the sizes of what `broker` holds into `reads`.

    A leader's replica is the size of the partition; every replica counts as data on disk. A copy
    on its way to another directory (`future`) does not. Raises struct.error or ValueError if the
    answer is torn, OverLimit if it tells of too much.
    """
    cursor, topics_told = Cursor(answer, 8), 0
    rows, sizes = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for _ in range(cursor.count(8)):
        cursor.skip(2)  # an error shows as a directory without topics
        cursor.text()
        topics = cursor.count(6)
        topics_told += topics + 1
        within(topics_told, 2 * limits.TOPICS_MAX, "topics and directories of one broker")
        for _ in range(topics):
            name = cursor.text() or ""
            count = cursor.count(_TOLD.itemsize)
            told = np.frombuffer(answer, _TOLD, count, cursor.skip(count * _TOLD.itemsize))
            span = reads.metadata.spans.get(name)
            if span is not None:
                kept = (told["index"] >= 0) & (told["index"] < len(span)) & (told["future"] == 0)
                rows.append(span.start + told["index"][kept].astype(np.int64))
                sizes.append(told["size"][kept].astype(np.int64))
    # Last: an answer that is torn or untrue tells nothing.
    reads.put_sizes(broker, np.concatenate(rows), np.concatenate(sizes))
