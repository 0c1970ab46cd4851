"""Reads the keys and values of Kafka's internal topics. Numbers are big-endian and signed. A string
has an int16 length before it, bytes an int32 one; -1 stands for null.
"""

from struct import Struct

_INT16 = Struct(">h")
_INT32 = Struct(">i")
_INT64 = Struct(">q")


class ValueReader:
    """A cursor over one key or value. Each method raises ValueError where it ends early."""

    __slots__ = ("_data", "_position")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    def _take(self, size: int) -> bytes:
        end = self._position + size
        if size < 0 or end > len(self._data):
            raise ValueError("the record ends early")
        chunk = self._data[self._position : end]
        self._position = end
        return chunk

    def numbers(self, layout: Struct) -> tuple[int, ...]:
        return layout.unpack(self._take(layout.size))

    def int16(self) -> int:
        return self.numbers(_INT16)[0]

    def int32(self) -> int:
        return self.numbers(_INT32)[0]

    def int64(self) -> int:
        return self.numbers(_INT64)[0]

    def nullable_string(self) -> str | None:
        size = self.int16()
        return None if size == -1 else self._take(size).decode()

    def string(self) -> str:
        """Null reads as empty."""
        return self.nullable_string() or ""

    def nullable_bytes(self) -> bytes | None:
        size = self.int32()
        return None if size == -1 else self._take(size)

    def bytes(self) -> bytes:
        """Null reads as empty."""
        return self.nullable_bytes() or b""
