"""Limits for what a schema and a record may make of a few bytes. Pure.

An Avro array of nulls has 2^60 items in ten bytes, and a schema of nested records multiplies its
fields at each level. So every decoded value costs at least VALUE_COST, whatever its bytes, and a
record that costs more than its budget is not decoded.
"""

DEPTH_MAX = 64  # of nested values
VALUE_COST = 16
COST_MAX = 8 << 20  # of one record
DATA_BYTES_MAX = 8 << 20


class DataInvalid(Exception):
    """The data do not match the schema, or exceed a limit; the text says how, without the data."""


class SchemaInvalid(Exception):
    """The schema cannot be used; the text says why."""


class Budget:
    """The cost that the decoding of one record may still have, and the depth of nesting."""

    __slots__ = ("depth", "left")

    def __init__(self) -> None:
        self.left = COST_MAX
        self.depth = 0

    def spend(self, cost: int) -> None:
        """Raises DataInvalid if nothing is left."""
        self.left -= cost
        if self.left < 0:
            raise DataInvalid("they have too many values to be shown")

    def enter(self) -> None:
        """Begin a nested value; `leave` ends it. Raises DataInvalid."""
        self.depth += 1
        if self.depth > DEPTH_MAX:
            raise DataInvalid(f"they are nested more than {DEPTH_MAX} times")

    def leave(self) -> None:
        self.depth -= 1
