"""A record as it was read, and the two orders in which records are shown."""

from dataclasses import dataclass

Headers = tuple[tuple[str, bytes | None], ...]
Age = tuple[int, int, int]  # sorts the newest first


@dataclass(frozen=True, slots=True)
class RecordRow:
    """One record as it lies in the log; bytes are not interpreted."""

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
    """Newest first; records without a time come last, each partition from its end."""
    return (-(row.timestamp_ms or 0), row.partition, -row.offset)


def by_offset(row: RecordRow) -> Age:
    """From the end of a partition, whatever the times say."""
    return (0, row.partition, -row.offset)
