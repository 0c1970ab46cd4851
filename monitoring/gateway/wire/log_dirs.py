"""DescribeLogDirs v1: the sizes of all replicas of a broker, as arrays.

request v1  = topics null (all)
response v1 = throttle i32, results[error i16, dir s,
              topics[name s, partitions[index i32, size i64, lag i64, future i8]]]
"""

import numpy as np

from monitoring.gateway.wire import limits
from monitoring.gateway.wire.cursor import Cursor
from monitoring.gateway.wire.limits import check_limit
from monitoring.gateway.wire.reads import ClusterReads

API_KEY, VERSION = 35, 1
REQUEST_BODY = b"\xff\xff\xff\xff"

_ENTRY = np.dtype([("index", ">i4"), ("size", ">i8"), ("lag", ">i8"), ("future", "i1")])


def decode_into(reads: ClusterReads, broker: int, answer: bytes) -> None:
    """Put the sizes of the replicas of `broker` into `reads`.

    The leader's replica is the size of the partition; every replica counts as data on disk, except
    a copy that is being moved to another directory (`future`). Raises struct.error or ValueError if
    the response is malformed, OverLimit if it is too large.
    """
    cursor, topics_read, replicas_read = Cursor(answer, 8), 0, 0
    spans, arrays = [], []
    for _ in range(cursor.array_length(8)):
        cursor.skip(2)  # error code: a failed directory has no topics
        cursor.text()
        topics = cursor.array_length(6)
        topics_read += topics + 1
        check_limit(topics_read, 2 * limits.TOPICS_MAX, "too_many_log_dirs")
        for _ in range(topics):
            name = cursor.text() or ""
            count = cursor.numpy_array_length(_ENTRY.itemsize)
            replicas_read += count
            check_limit(replicas_read, 2 * limits.PARTITIONS_MAX, "too_many_broker_replicas")
            start = cursor.skip(count * _ENTRY.itemsize)
            if name in reads.metadata.spans:
                spans.append(reads.metadata.spans[name])
                arrays.append(np.frombuffer(answer, _ENTRY, count, start))
    if not arrays:
        return
    counts = [len(array) for array in arrays]
    entries = np.concatenate(arrays)
    index, is_current = entries["index"].astype(np.int64), entries["future"] == 0
    valid = is_current & (index >= 0) & (index < np.repeat([len(span) for span in spans], counts))
    rows = np.repeat([span.start for span in spans], counts) + index
    # After all checks, so that an invalid response changes nothing.
    reads.put_sizes(broker, rows[valid], entries["size"][valid].astype(np.int64))
