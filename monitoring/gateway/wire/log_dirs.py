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
    cursor, topics_told, replicas_told = Cursor(answer, 8), 0, 0
    spans, parts = [], []
    for _ in range(cursor.count(8)):
        cursor.skip(2)  # an error shows as a directory without topics
        cursor.text()
        topics = cursor.count(6)
        topics_told += topics + 1
        within(topics_told, 2 * limits.TOPICS_MAX, "topics and directories of one broker")
        for _ in range(topics):
            name = cursor.text() or ""
            count = cursor.count_at_once(_TOLD.itemsize)
            replicas_told += count
            within(replicas_told, 2 * limits.PARTITIONS_MAX, "replicas of one broker")
            start = cursor.skip(count * _TOLD.itemsize)
            if name in reads.metadata.spans:
                spans.append(reads.metadata.spans[name])
                parts.append(np.frombuffer(answer, _TOLD, count, start))
    if not parts:
        return
    counts = [len(part) for part in parts]
    told = np.concatenate(parts)
    index, there = told["index"].astype(np.int64), told["future"] == 0
    kept = there & (index >= 0) & (index < np.repeat([len(span) for span in spans], counts))
    rows = np.repeat([span.start for span in spans], counts) + index
    # Last: an answer that is torn or untrue tells nothing.
    reads.put_sizes(broker, rows[kept], told["size"][kept].astype(np.int64))
