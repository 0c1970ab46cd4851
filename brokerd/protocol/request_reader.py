"""Reads the body of a request field by field, for the codecs that are written by hand (Produce,
Fetch, ListOffsets). All others are read by kio, behind `array_length_check`.
"""

from collections.abc import Iterator
from struct import Struct
from struct import error as struct_error
from typing import Any

from brokerd.protocol.array_length_check import ITEMS_MAX
from brokerd.protocol.framing import malformed, skip_tags
from brokerd.protocol.varint import read_uvarint

_INT16 = Struct(">h")
_INT32 = Struct(">i")


class RequestReader:
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

    def structs(self, layout: Struct, count: int) -> Iterator[tuple[Any, ...]]:
        """Items of fixed size."""
        start = self.position
        self.position = end = start + count * layout.size
        if end > len(self.view):
            raise malformed("an array is longer than the request")
        return layout.iter_unpack(self.view[start:end])

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
        number = self._length(_INT32)
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
        return self.chunk(_INT32)

    def tags(self) -> None:
        if not self.flexible:
            return
        position = self.position
        if position < len(self.view) and self.view[position] == 0:
            self.position = position + 1
            return
        self._take(read_uvarint(self.view, position)[0])
        self.position = skip_tags(self.view, position)
