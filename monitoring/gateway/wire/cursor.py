"""Decodes a broker's response, reading forward only.

Every length is checked against the remaining bytes, so that invalid lengths cannot cause endless
loops. Items that are read one by one are counted, so that many small items cannot take minutes.
Malformed data raises ValueError, KafkaError or struct.error; too many items raise OverLimit.
"""

import builtins
from struct import Struct

from brokerd.protocol.framing import skip_tags
from brokerd.protocol.varint import read_uvarint
from monitoring.gateway.wire import response_limits
from monitoring.gateway.wire.response_limits import check_limit

_I16, _I32, _I64 = Struct(">h"), Struct(">i"), Struct(">q")
# Where a response is read from, by what it begins with.
AFTER_CORRELATION_ID = 4
AFTER_THROTTLE_TIME = 8  # which comes first in versions that are not flexible


class Cursor:
    """A position in `data`; `flexible` = lengths are unsigned varints of n + 1."""

    __slots__ = ("at", "data", "flexible", "items")

    def __init__(self, data: bytes, at: int, *, flexible: bool = False) -> None:
        self.data, self.at, self.flexible = data, at, flexible
        self.items = 0  # number of items read one by one

    def i16(self) -> int:
        (value,) = _I16.unpack_from(self.data, self.at)
        self.at += 2
        return int(value)

    def i32(self) -> int:
        (value,) = _I32.unpack_from(self.data, self.at)
        self.at += 4
        return int(value)

    def i64(self) -> int:
        (value,) = _I64.unpack_from(self.data, self.at)
        self.at += 8
        return int(value)

    def skip(self, size: int) -> int:
        """Skip `size` bytes; returns their start."""
        start = self.at
        if not 0 <= size <= len(self.data) - start:
            raise ValueError(f"a length of {size} with {len(self.data) - start} bytes left")
        self.at = start + size
        return start

    def count_items(self, count: int) -> None:
        """Count items that are read one by one. Raises OverLimit."""
        self.items += count
        check_limit(self.items, response_limits.ANSWER_ITEMS_MAX, "too_many_things")

    def array_length(self, *, item_bytes_min: int) -> int:
        """The length of an array whose items (of at least `item_bytes_min`) are read one by one."""
        count = self.numpy_array_length(item_bytes_min=item_bytes_min)
        self.count_items(count)
        return count

    def numpy_array_length(self, *, item_bytes_min: int) -> int:
        """The length of an array that NumPy reads at once; null = 0."""
        count = self._uvarint() - 1 if self.flexible else self.i32()
        if count < -1 or count * item_bytes_min > len(self.data) - self.at:
            raise ValueError(f"{count} items with {len(self.data) - self.at} bytes left")
        return max(count, 0)

    def text(self) -> str | None:
        size = self._uvarint() - 1 if self.flexible else self.i16()
        return None if size == -1 else self.slice(size).decode()

    def bytes(self) -> builtins.bytes:
        """Bytes; null = empty."""
        size = self._uvarint() - 1 if self.flexible else self.i32()
        return b"" if size == -1 else self.slice(size)

    def skip_tags(self) -> None:
        """Skip the tagged fields of a flexible version."""
        if self.flexible:
            if self.data[self.at : self.at + 1] != b"\0":
                self.count_items(read_uvarint(self.data, self.at)[0])
            self.at = skip_tags(self.data, self.at)

    def slice(self, size: int) -> builtins.bytes:
        """The next `size` bytes."""
        start = self.skip(size)
        return self.data[start : self.at]

    def _uvarint(self) -> int:
        value, self.at = read_uvarint(self.data, self.at)
        return value
