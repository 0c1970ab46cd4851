"""Numbers and UUIDs as Kafka's serializers write them: big-endian, of a fixed size. Pure."""

import struct
import uuid
from collections.abc import Callable


def _number(layout: str) -> Callable[[bytes], str]:
    """A decoder that raises ValueError if the size is wrong."""
    shape = struct.Struct(layout)

    def decode(data: bytes) -> str:
        _check_size(data, shape.size)
        return str(shape.unpack(data)[0])

    return decode


def _check_size(data: bytes, size: int) -> None:
    if len(data) != size:
        raise ValueError(f"it has {len(data)} bytes, not {size}")


def uuid_text(data: bytes) -> str:
    """A UUID of 16 bytes, or of 36 characters as UUIDSerializer writes it. Raises ValueError."""
    if len(data) == 36:
        return str(uuid.UUID(data.decode("ascii")))
    _check_size(data, 16)
    return str(uuid.UUID(bytes=data))


int16, int32, int64 = _number(">h"), _number(">i"), _number(">q")
float32, float64 = _number(">f"), _number(">d")
