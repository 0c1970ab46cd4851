"""Reads forward through a broker's answer, and never backwards.

Every length is checked against what is left, so that neither a negative one nor one that is too
large makes a reader go round for ever. What does not fit raises ValueError or struct.error.
"""

from struct import Struct

from brokerd.protocol.framing import skip_tags
from brokerd.protocol.varint import read_uvarint

_I16, _I32 = Struct(">h"), Struct(">i")


class Cursor:
    """A position in `data`; `flexible` = lengths are unsigned varints of n + 1."""

    __slots__ = ("at", "data", "flexible")

    def __init__(self, data: bytes, at: int, *, flexible: bool = False) -> None:
        self.data, self.at, self.flexible = data, at, flexible

    def i16(self) -> int:
        (value,) = _I16.unpack_from(self.data, self.at)
        self.at += 2
        return int(value)

    def i32(self) -> int:
        (value,) = _I32.unpack_from(self.data, self.at)
        self.at += 4
        return int(value)

    def skip(self, size: int) -> int:
        """Moves on by `size` bytes; where they begin."""
        start = self.at
        if not 0 <= size <= len(self.data) - start:
            raise ValueError(f"a length of {size} with {len(self.data) - start} bytes left")
        self.at = start + size
        return start

    def count(self, least_bytes: int) -> int:
        """The length of an array whose items take at least so many bytes; null is 0."""
        count = self._uvarint() - 1 if self.flexible else self.i32()
        if count < -1 or count * least_bytes > len(self.data) - self.at:
            raise ValueError(f"{count} items with {len(self.data) - self.at} bytes left")
        return max(count, 0)

    def text(self) -> str | None:
        size = self._uvarint() - 1 if self.flexible else self.i16()
        return None if size == -1 else self._slice(size).decode()

    def bytes(self) -> bytes:
        """Null is empty."""
        size = self._uvarint() - 1 if self.flexible else self.i32()
        return b"" if size == -1 else self._slice(size)

    def tags(self) -> None:
        """Moves past tagged fields, where there may be some."""
        if self.flexible:
            self.at = skip_tags(self.data, self.at)

    def _slice(self, size: int) -> bytes:
        start = self.skip(size)
        return self.data[start : self.at]

    def _uvarint(self) -> int:
        value, self.at = read_uvarint(self.data, self.at)
        return value
