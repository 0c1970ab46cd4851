"""The partitions of one topic as the last good tick knows them."""

from dataclasses import dataclass

import pyarrow.compute as pc

from monitoring.sampling.tick import Tick


@dataclass(frozen=True, slots=True)
class PartitionRow:
    """One partition; what the tick could not learn is None, a leader of -1 is "no leader"."""

    topic: str
    partition: int
    leader: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    log_start_offset: int | None
    log_end_offset: int | None
    size_bytes: int | None

    @property
    def messages(self) -> int | None:
        """Offsets between start and end: the records, where none was compacted away."""
        if self.log_start_offset is None or self.log_end_offset is None:
            return None
        return self.log_end_offset - self.log_start_offset

    @property
    def is_offline(self) -> bool:
        return self.leader < 0

    @property
    def is_under_replicated(self) -> bool:
        return len(self.isr) < len(self.replicas)


_FIELDS = (
    "topic", "partition", "leader", "replicas", "isr", "log_start_offset", "log_end_offset",
    "size_bytes",
)  # fmt: skip


def of_topic(tick: Tick | None, topic: str) -> list[PartitionRow]:
    """The rows of `topic` by partition; empty when the tick does not know the topic."""
    if tick is None:
        return []
    rows = tick.partitions.filter(pc.equal(pc.field("topic"), topic)).select(_FIELDS).to_pylist()
    rows.sort(key=lambda row: row["partition"])
    return [
        PartitionRow(**row | {"replicas": tuple(row["replicas"]), "isr": tuple(row["isr"])})
        for row in rows
    ]
