"""Frames and request headers.

A frame is `size i32` and then `size` bytes. A request begins with `api key i16, api version i16,
correlation id i32, client id (i16 length, -1 = null)`; flexible versions add tagged fields. The
length of the client id is an int16 even there.
"""

from struct import Struct
from struct import error as struct_error
from typing import NamedTuple

from brokerd.errors import ErrorCode, KafkaError
from brokerd.protocol.array_length_check import ITEMS_MAX
from brokerd.protocol.messages import request_is_flexible
from brokerd.protocol.varint import read_uvarint

FRAME_SIZE = Struct(">i")
REQUEST_HEAD = Struct(">hhih")
SMALLEST_REQUEST_BYTES = 8
SMALLEST_FRAME_BYTES = 4 + SMALLEST_REQUEST_BYTES
TLS_HELLO = 0x160301
"""How the first record of a TLS client begins, taken for a frame's size."""


class RequestHeader(NamedTuple):
    """What leads every request; `body_position` is where the body starts in the frame."""

    api_key: int
    api_version: int
    correlation_id: int
    client_id: str | None
    body_position: int


def why_size_refused(size: int, size_max: int) -> str:
    """Why a frame of this size ends its connection; it cannot be answered."""
    if size >> 8 == TLS_HELLO:
        return "it speaks TLS, which this listener does not"
    return (
        f"a frame of {size} bytes; sizes are {SMALLEST_REQUEST_BYTES} to {size_max} "
        "(socket.request.max.bytes)"
    )


def malformed(what: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REQUEST, f"malformed request: {what}")


def parse_header(frame: memoryview) -> RequestHeader:
    """The header of a frame without its size. Raises KafkaError(INVALID_REQUEST)."""
    try:
        api_key, api_version, correlation_id, length = REQUEST_HEAD.unpack_from(frame, 0)
    except struct_error:
        raise malformed("the header is cut off") from None
    position = 10
    client_id = None
    if length >= 0:
        position += length
        if position > len(frame):
            raise malformed("the client id is cut off")
        client_id = bytes(frame[10:position]).decode(errors="replace")
    if request_is_flexible(api_key, api_version):
        position = skip_tags(frame, position)
    return RequestHeader(api_key, api_version, correlation_id, client_id, position)


def skip_tags(view: bytes | memoryview, position: int) -> int:
    """The position behind a run of tagged fields."""
    if position < len(view) and view[position] == 0:
        return position + 1
    count, position = read_uvarint(view, position)
    if count > ITEMS_MAX:
        raise malformed(f"it has more than {ITEMS_MAX} tagged fields")
    for _ in range(count):
        _, position = read_uvarint(view, position)
        size, position = read_uvarint(view, position)
        position += size
        if position > len(view):
            raise malformed("a tagged field is cut off")
    return position
