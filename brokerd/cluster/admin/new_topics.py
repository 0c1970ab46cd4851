"""What callers ask of topic administration: plain values."""

from collections.abc import Mapping
from dataclasses import dataclass, field

DEFAULT = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTopic:
    """A topic to create. With `assignment` (partition → replicas) the numbers stay DEFAULT; without
    it DEFAULT means the broker's default. A setting in `config` that is None is refused."""

    name: str
    partitions: int = DEFAULT
    replication_factor: int = DEFAULT
    assignment: dict[int, tuple[int, ...]] = field(default_factory=dict)
    config: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPartitions:
    """Growth of a topic to `total` partitions; `assignment` holds the replicas of each added one,
    in order; without one (None) they are assigned."""

    topic: str
    total: int
    assignment: tuple[tuple[int, ...], ...] | None = None
