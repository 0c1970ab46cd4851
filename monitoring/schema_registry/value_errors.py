"""Why a value does not fit a schema: where in the value, and what is expected there. Pure."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from monitoring.error_reason import Reason
from monitoring.schema_registry.decoding_limits import DEPTH_MAX

VALUES_MAX = 200_000  # of one record, with those that were tried for the branches of unions
_PATH_PARTS_MAX, _PART_CHARS_MAX = 20, 60
_NAMES_SHOWN, _EXPECTED_CHARS_MAX = 10, 500


class ValueDoesNotFit(Exception):
    """`path` is made from the inside out. The text never has the value itself."""

    def __init__(self, expected: str = "", *, why: str = "") -> None:
        super().__init__(why or expected)
        self.expected = expected
        self.why = why or f"expected {expected}"
        self.path: list[str | int] = []

    @property
    def reason(self) -> Reason:
        path = "value"
        for part in self.path[:_PATH_PARTS_MAX]:
            path += f"[{part}]" if isinstance(part, int) else f".{part[:_PART_CHARS_MAX]}"
        return Reason("schema_unfit", path=path, why=self.why)


class Exhausted(ValueDoesNotFit):
    """The value is too large: no other part of the schema is tried."""


class ValueBudget:
    """How many values one record may have, and how deep they may be nested."""

    def __init__(self) -> None:
        self.values, self.depth = 0, 0

    def spend(self, values: int) -> None:
        """Raises Exhausted if nothing is left."""
        self.values += values
        if self.values > VALUES_MAX:
            raise Exhausted(f"at most {VALUES_MAX} values")

    @contextmanager
    def within(self, part: str | int | None) -> Iterator[None]:
        """Enter a nested value: count it and its depth, and put `part`, its name or number, in
        front of an error's path. None = the same value, by another part of the schema.

        Raises ValueDoesNotFit for too many levels, Exhausted for too many values.
        """
        self.depth += 1
        try:
            self.spend(1)
            if self.depth > DEPTH_MAX:
                raise ValueDoesNotFit(f"at most {DEPTH_MAX} levels")
            yield
        except ValueDoesNotFit as error:
            if part is not None:
                error.path.insert(0, part)
            raise
        finally:
            self.depth -= 1


def one_of(names: Sequence[str]) -> str:
    """What an error expects where several names are possible."""
    more = ", …" if len(names) > _NAMES_SHOWN else ""
    return f"one of {', '.join(names[:_NAMES_SHOWN])}"[:_EXPECTED_CHARS_MAX] + more


def utf8(value: Any) -> bytes:
    """The bytes of a text. Raises ValueDoesNotFit."""
    try:
        if isinstance(value, str):
            return value.encode()
    except UnicodeEncodeError:  # a lone surrogate
        pass
    raise ValueDoesNotFit("string")
