"""DescribeLogDirs v1: bytes on disk of every replica a broker holds, into arrays.

request v1  = topics null (all)
response v1 = throttle i32, results[error i16, dir s,
              topics[name s, partitions[index i32, size i64, lag i64, future i8]]]
"""

from struct import Struct

import numpy as np

from monitoring.gateway.wire.reads import ClusterReads

API_KEY, VERSION = 35, 1
REQUEST_BODY = b"\xff\xff\xff\xff"

_TOLD = np.dtype([("index", ">i4"), ("size", ">i8"), ("lag", ">i8"), ("future", "i1")])
_I16, _I32 = Struct(">h"), Struct(">i")


def decode_into(reads: ClusterReads, broker: int, answer: bytes) -> None:
    """Put the sizes of what `broker` holds into `reads`.

    A leader's replica is the size of the partition; every replica counts as data on disk. A copy
    on its way to another directory (`future`) does not. Raises struct.error or ValueError if the
    answer is torn.
    """
    at = 12
    for _ in range(_I32.unpack_from(answer, 8)[0]):
        at += 4 + _I16.unpack_from(answer, at + 2)[0]  # error, directory
        topics = _I32.unpack_from(answer, at)[0]
        at += 4
        for _ in range(topics):
            (size,) = _I16.unpack_from(answer, at)
            name = answer[at + 2 : at + 2 + size].decode()
            at += 2 + size
            (count,) = _I32.unpack_from(answer, at)
            told = np.frombuffer(answer, dtype=_TOLD, count=count, offset=at + 4)
            at += 4 + count * _TOLD.itemsize
            rows = reads.metadata.spans.get(name)
            if rows is not None:
                _put(reads, broker, rows, told)


def _put(reads: ClusterReads, broker: int, rows: range, told: np.ndarray) -> None:
    told = told[(told["index"] < len(rows)) & (told["future"] == 0)]
    where = rows.start + told["index"]
    led = reads.metadata.leaders[where] == broker
    reads.size_bytes[where[led]] = told["size"][led]
    reads.add_replicas(broker, where, told["size"])
