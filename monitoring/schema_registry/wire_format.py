"""The wire format of serializers that use a schema registry. Pure.

    00                     magic byte
    4 bytes, big-endian    id of the schema
    the data               of Protobuf behind the message indexes

Message indexes say which message of the .proto text was written: the path through nested messages,
as a count and as many numbers (zigzag varints). The count 0 stands for the path [0].
"""

from collections.abc import Sequence

from monitoring.schema_registry.decoding_limits import DataInvalid

MAGIC = 0
HEADER_BYTES = 5
_INDEXES_MAX = 32
_VARINT_BYTES_MAX = 10


def schema_id_of(data: bytes | None) -> int | None:
    """The id of the schema, or None if the data do not have this format."""
    if data is None or len(data) < HEADER_BYTES or data[0] != MAGIC:
        return None
    number = int.from_bytes(data[1:HEADER_BYTES], "big")
    return number if 0 < number < 1 << 31 else None


def message_indexes(data: bytes, at: int) -> tuple[list[int], int]:
    """The message indexes from byte `at` on, and where the message begins. Raises DataInvalid."""
    count, at = read_zigzag(data, at)
    if not 0 <= count <= _INDEXES_MAX:
        raise DataInvalid(f"the count of message indexes is {count}")
    indexes = []
    for _ in range(count):
        index, at = read_zigzag(data, at)
        if index < 0:
            raise DataInvalid("a message index is negative")
        indexes.append(index)
    return indexes or [0], at


def header(schema_id: int) -> bytes:
    """The bytes before the data of a schema."""
    return bytes((MAGIC,)) + schema_id.to_bytes(4, "big")


def encode_indexes(indexes: Sequence[int]) -> bytes:
    """Message indexes as `message_indexes` reads them."""
    if list(indexes) == [0]:
        return b"\0"
    return zigzag(len(indexes)) + b"".join(map(zigzag, indexes))


def varint(number: int) -> bytes:
    """An unsigned number."""
    data = bytearray()
    while number > 0x7F:
        data.append(number & 0x7F | 0x80)
        number >>= 7
    data.append(number)
    return bytes(data)


def zigzag(number: int) -> bytes:
    """A signed number of up to 64 bits."""
    return varint((number << 1) ^ (number >> 63))


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """An unsigned number of up to 64 bits, and where the next byte is. Raises DataInvalid."""
    number = shift = 0
    for _ in range(_VARINT_BYTES_MAX):
        if at >= len(data):
            raise DataInvalid("the data end within a number")
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number & 0xFFFFFFFFFFFFFFFF, at
        shift += 7
    raise DataInvalid("a number has more than 64 bits")


def read_zigzag(data: bytes, at: int) -> tuple[int, int]:
    """A signed number of up to 64 bits, and where the next byte is. Raises DataInvalid."""
    number, at = read_varint(data, at)
    return (number >> 1) ^ -(number & 1), at
