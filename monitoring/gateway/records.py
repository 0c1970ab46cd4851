"""A record, and the two sort orders of records."""

from dataclasses import dataclass

Headers = tuple[tuple[str, bytes | None], ...]
Age = tuple[int, int, int]  # sorts the newest first


@dataclass(frozen=True, slots=True)
class RecordRow:
    """One record; key, value and headers are not decoded."""

    partition: int
    offset: int
    timestamp_ms: int | None
    key: bytes | None
    value: bytes | None
    headers: Headers

    @property
    def size_bytes(self) -> int:
        data = [self.key, self.value, *(value for _name, value in self.headers)]
        return sum(len(part) for part in data if part) + sum(len(name) for name, _ in self.headers)


def by_time(row: RecordRow) -> Age:
    """Sorts by timestamp, newest first; records without a timestamp come last."""
    return (-(row.timestamp_ms or 0), row.partition, -row.offset)


def by_offset(row: RecordRow) -> Age:
    """Sorts by offset, highest first."""
    return (0, row.partition, -row.offset)
