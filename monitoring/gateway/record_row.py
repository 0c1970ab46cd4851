"""A record, and the two sort orders of records."""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

Headers = tuple[tuple[str, bytes | None], ...]
_TYPE_NAMES = {"AVRO": "Avro", "PROTOBUF": "Protobuf", "JSON": "JSON Schema"}
SortKey = tuple[int, int, int]  # of a record; the newest has the smallest


def schema_type_name(schema_type: str) -> str:
    """The type of a schema as pages show it; of an unknown one the type itself."""
    return _TYPE_NAMES.get(schema_type, schema_type)


@dataclass(frozen=True, slots=True)
class SchemaNote:
    """What is known about data that begin with the id of a schema (monitoring/schema_registry/).

    Without a `problem` (a Reason or "") the data of the record are the decoded JSON, and `raw` are
    those of the topic; `raw` is None if a part of them is masked.
    """

    schema_id: int
    type: str = ""  # AVRO, PROTOBUF, JSON; empty = unknown
    subject: str = ""
    version: int | None = None
    title: str = ""  # the name of the record's type
    problem: str = ""
    size_bytes: int = 0  # of the raw data
    raw: bytes | None = field(default=None, repr=False)

    @property
    def type_name(self) -> str:
        return schema_type_name(self.type)

    def masked(self) -> "SchemaNote":
        """The note without the raw data, and without a problem whose text contains some of them."""
        shows_data = getattr(self.problem, "code", "") == "schema_data"
        return replace(self, raw=None, problem="" if shows_data else self.problem)


class RecordRow(NamedTuple):
    """One record. Headers are not decoded; key and value only if they have a note.

    A search makes one of each record that it decodes: a NamedTuple takes 0.4 µs, a frozen dataclass
    1.3.
    """

    partition: int
    offset: int
    timestamp_ms: int | None
    key: bytes | None
    value: bytes | None
    headers: Headers
    key_schema: SchemaNote | None = None
    value_schema: SchemaNote | None = None

    @property
    def raw_key(self) -> bytes | None:
        """The key as it is in the topic, if no part of it is masked."""
        return _raw(self.key, self.key_schema)

    @property
    def raw_value(self) -> bytes | None:
        """The value as it is in the topic, if no part of it is masked."""
        return _raw(self.value, self.value_schema)

    @property
    def size_bytes(self) -> int:
        data = [self.key, self.value, *(value for _name, value in self.headers)]
        return sum(len(part) for part in data if part) + sum(len(name) for name, _ in self.headers)


def _raw(data: bytes | None, note: SchemaNote | None) -> bytes | None:
    return data if note is None or note.raw is None else note.raw


def by_time(row: RecordRow) -> SortKey:
    """Sorts by timestamp, newest first; records without a timestamp come last."""
    return (-(row.timestamp_ms or 0), row.partition, -row.offset)


def by_offset(row: RecordRow) -> SortKey:
    """Sorts by offset, highest first."""
    return (0, row.partition, -row.offset)
