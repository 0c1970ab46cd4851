"""Frames and request headers.

A frame is `size i32` and then `size` bytes. A request begins with `api key i16, api version i16,
correlation id i32, client id (i16 length, -1 = null)`; flexible versions add tagged fields. The
length of the client id is an int16 even there. Also the readers that the hand-written codecs share.
"""

from struct import Struct
from struct import error as struct_error
from typing import NamedTuple

from brokerd.errors import ErrorCode, KafkaError
from brokerd.protocol.messages import request_is_flexible
from brokerd.protocol.request_length_check import ITEMS_MAX
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


class Reader:
    """A cursor over one request body. Every length is checked against what is left; all arrays and
    runs of tagged fields together have no more than ITEMS_MAX items."""

    __slots__ = ("flexible", "items", "position", "view")

    def __init__(self, view: memoryview, position: int, flexible: bool) -> None:
        self.view = view
        self.position = position
        self.flexible = flexible
        self.items = 0

    def struct(self, layout: Struct) -> tuple[int, ...]:
        try:
            values = layout.unpack_from(self.view, self.position)
        except struct_error:
            raise malformed("it ends too early") from None
        self.position += layout.size
        return values

    def _length(self, legacy: Struct) -> int:
        """A length or count; -1 is null."""
        position = self.position
        if not self.flexible:
            try:
                (length,) = legacy.unpack_from(self.view, position)
            except struct_error:
                raise malformed("it ends too early") from None
            self.position = position + legacy.size
            return length  # type: ignore[no-any-return]
        if position < len(self.view) and (value := self.view[position]) < 0x80:
            self.position = position + 1  # most are short: half the time of a call
            return value - 1
        value, self.position = read_uvarint(self.view, position)
        return value - 1

    def count(self) -> int:
        """An array's number of items; a null array counts as empty."""
        number = self._length(FRAME_SIZE)
        if number <= 0:
            return 0
        if number > len(self.view) - self.position:
            raise malformed("an array is longer than the request")
        self._take(number)
        return number

    def _take(self, number: int) -> None:
        self.items += number
        if self.items > ITEMS_MAX:
            raise malformed(f"it has more than {ITEMS_MAX} items")

    def chunk(self, legacy: Struct) -> memoryview | None:
        """A nullable run of bytes, not copied."""
        size = self._length(legacy)
        if size < 0:
            return None
        start = self.position
        self.position = end = start + size
        if end > len(self.view):
            raise malformed("a field is cut off")
        return self.view[start:end]

    def text(self) -> str | None:
        """A nullable string."""
        data = self.chunk(_INT16)
        try:
            return None if data is None else str(data, "utf-8")
        except UnicodeDecodeError:
            raise malformed("a string is not UTF-8") from None

    def records(self) -> memoryview | None:
        """A nullable run of record batches, not copied."""
        return self.chunk(FRAME_SIZE)

    def tags(self) -> None:
        if not self.flexible:
            return
        position = self.position
        if position < len(self.view) and self.view[position] == 0:
            self.position = position + 1
            return
        self._take(read_uvarint(self.view, position)[0])
        self.position = skip_tags(self.view, position)


_INT16 = Struct(">h")
