"""ListOffsets v0, which has several offsets for each partition and which kio does not know.

It is not offered and not served; a client that was told to take the broker for one of Kafka 0.9
sends it all the same, and is to find UNSUPPORTED_VERSION where it looks for an error. Request:
replica id, then topics with partitions (index i32, timestamp i64, most offsets i32). Response:
topics with partitions (index i32, error i16, array of i64).
"""

from struct import Struct

from brokerd.errors import ErrorCode
from brokerd.protocol.framing import Reader

_INT32 = Struct(">i")
_ASKED = Struct(">iqi")
_NAME = Struct(">h")
_REFUSED = Struct(">ihi")


def encode_refusal(frame: memoryview, position: int, error: ErrorCode) -> bytes:
    """The response's body to the request whose body starts at `position`; KafkaError if it does
    not parse."""
    reader = Reader(frame, position, flexible=False)
    reader.struct(_INT32)
    topics = reader.count()
    out = bytearray(_INT32.pack(topics))
    for _ in range(topics):
        name = (reader.text() or "").encode()
        partitions = reader.count()
        out += _NAME.pack(len(name)) + name + _INT32.pack(partitions)
        for _ in range(partitions):
            index, _, _ = reader.struct(_ASKED)
            out += _REFUSED.pack(index, int(error), 0)
    return bytes(out)
