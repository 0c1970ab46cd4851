"""DescribeLogDirs v1: bytes on disk of every partition a broker holds, into an array.

request v1  = topics null (all)
response v1 = throttle i32, results[error i16, dir s,
              topics[name s, partitions[index i32, size i64, lag i64, future i8]]]
"""

from struct import Struct

import numpy as np

from monitoring.gateway.wire.metadata import Longs, Metadata

API_KEY, VERSION = 35, 1
REQUEST_BODY = b"\xff\xff\xff\xff"

_TOLD = np.dtype([("index", ">i4"), ("size", ">i8"), ("lag", ">i8"), ("future", "i1")])
_I16, _I32 = Struct(">h"), Struct(">i")


def decode_into(sizes: Longs, metadata: Metadata, broker: int, answer: bytes) -> None:
    """Put the sizes of the partitions that `broker` leads into `sizes` (bytes, by row).

    A leader's replica stands for the partition; a copy on its way to another directory
    (`future`) is not counted. Raises struct.error or ValueError if the answer is torn.
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
            rows = metadata.spans.get(name)
            if rows is not None:
                _put(sizes, metadata, broker, rows, told)


def _put(sizes: Longs, metadata: Metadata, broker: int, rows: range, told: np.ndarray) -> None:
    told = told[(told["index"] < len(rows)) & (told["future"] == 0)]
    where = rows.start + told["index"]
    led = metadata.leaders[where] == broker
    sizes[where[led]] = told["size"][led]
