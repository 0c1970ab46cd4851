"""What one pass over a cluster brought back: plain arrays and rows, no socket in sight.

Every array has one value per row of `metadata` (see metadata.py), `UNKNOWN` (−1) where nobody
told. `failures` names each part that is missing and why.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from monitoring.gateway.wire.commits import GroupCommits
from monitoring.gateway.wire.groups import DescribedGroup, ListedGroup
from monitoring.gateway.wire.metadata import Longs, Metadata
from monitoring.gateway.wire.offsets import UNKNOWN


@dataclass(slots=True)
class CoordinatorRead:
    """The groups of one coordinator: state, commits and members, as far as it told."""

    broker_id: int
    listed: list[ListedGroup]
    commits: list[GroupCommits]
    described: list[DescribedGroup]


@dataclass(slots=True)
class Counters:
    """Per partition, since the broker started (brokerd only)."""

    bytes_in: Longs
    bytes_out: Longs
    messages_in: Longs


@dataclass(slots=True)
class ClusterReads:
    """One pass: committed offsets first, end offsets after them."""

    metadata: Metadata
    at_ms: int  # just before the end offsets were asked for
    log_start: Longs
    log_end: Longs
    size_bytes: Longs  # of the leader's replica
    replicas_size_bytes: Longs  # of every replica whose broker told …
    replicas_told: Longs  # … and how many those are (0 = none)
    counters: Counters
    coordinators: list[CoordinatorRead] = field(default_factory=list)
    broker_size_bytes: dict[int, int] = field(default_factory=dict)  # all that a broker holds
    broker_stats: dict[int, dict[str, Any]] = field(default_factory=dict)
    answered: set[int] = field(default_factory=set)
    failures: list[str] = field(default_factory=list)
    groups_complete: bool = True

    @classmethod
    def empty(cls, metadata: Metadata) -> "ClusterReads":
        """Nothing known yet but the metadata."""

        def unknown() -> Longs:
            return np.full(metadata.row_count, UNKNOWN, dtype=np.int64)

        counters = Counters(unknown(), unknown(), unknown())
        told = np.zeros(metadata.row_count, dtype=np.int64)
        return cls(metadata, 0, unknown(), unknown(), unknown(), unknown(), told, counters)

    def add_replicas(self, broker_id: int, rows: np.ndarray, sizes: np.ndarray) -> None:
        """Count in the replicas that `broker_id` holds: a row and a size (bytes) for each."""
        np.maximum.at(self.replicas_size_bytes, rows, 0)
        np.add.at(self.replicas_size_bytes, rows, sizes)
        np.add.at(self.replicas_told, rows, 1)
        held = self.broker_size_bytes.get(broker_id, 0)
        self.broker_size_bytes[broker_id] = held + int(sizes.sum())
