"""What a cluster's brokers answered in one pass, as arrays.

Every array has one value per row of `metadata` (see metadata.py); `UNKNOWN` is −1. `failures` lists
missing parts and reasons, `invalid` what was left out because it is invalid or exceeds a limit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from monitoring.error_reason import Reason
from monitoring.gateway.wire import response_limits
from monitoring.gateway.wire.groups import DescribedGroup, ListedGroup
from monitoring.gateway.wire.list_offsets import UNKNOWN
from monitoring.gateway.wire.metadata import Longs, Metadata
from monitoring.gateway.wire.offset_fetch import GroupCommits
from monitoring.gateway.wire.response_limits import (
    SIZE_BYTES_MAX,
    InvalidParts,
    check_limit,
    printable,
)


@dataclass(slots=True)
class CoordinatorAnswers:
    """The groups of one coordinator: states, commits and members."""

    broker_id: int
    listed: list[ListedGroup]
    commits: list[GroupCommits]
    described: list[DescribedGroup]


@dataclass(slots=True)
class Counters:
    """Traffic per partition since the broker started (brokerd only)."""

    bytes_in: Longs
    bytes_out: Longs
    messages_in: Longs


@dataclass(frozen=True, slots=True)
class LogDir:
    """A log directory of a broker: the disk that it is on, and the size of its replicas; None =
    unknown."""

    path: str
    total_bytes: int | None
    free_bytes: int | None
    size_bytes: int | None = None


@dataclass(slots=True)
class ClusterAnswers:
    """The answers of one pass: committed offsets first, end offsets after them."""

    metadata: Metadata
    at_ms: int  # just before the end offsets were requested
    log_start: Longs
    log_end: Longs
    size_bytes: Longs  # of the leader's replica
    replicas_size_bytes: Longs  # the sum over the replicas whose brokers answered
    replicas_reported: Longs  # the number of these replicas (0 = none)
    counters: Counters
    # The times of the last records (sampling/last_record_choice.py), and whether there may be
    # newer records.
    last_record_ms: Longs
    has_newer_records: npt.NDArray[np.bool_]
    coordinators: list[CoordinatorAnswers] = field(default_factory=list)
    # Broker id → size of all its replicas.
    broker_size_bytes: dict[int, int] = field(default_factory=dict)
    broker_stats: dict[int, dict[str, Any]] = field(default_factory=dict)
    log_dirs: dict[int, list[LogDir]] = field(default_factory=dict)
    answering_brokers: set[int] = field(default_factory=set)  # broker ids
    failures: list[Reason] = field(default_factory=list)
    invalid: InvalidParts = field(default_factory=InvalidParts)
    groups_complete: bool = True
    member_count: int = 0  # of all groups together

    @classmethod
    def empty(cls, metadata: Metadata) -> "ClusterAnswers":
        """The answers with only the metadata; all other values are unknown."""

        def unknown() -> Longs:
            return np.full(metadata.row_count, UNKNOWN, dtype=np.int64)

        counters = Counters(unknown(), unknown(), unknown())
        replicas_reported = np.zeros(metadata.row_count, dtype=np.int64)
        answers = cls(
            metadata=metadata,
            at_ms=0,
            log_start=unknown(),
            log_end=unknown(),
            size_bytes=unknown(),
            replicas_size_bytes=unknown(),
            replicas_reported=replicas_reported,
            counters=counters,
            last_record_ms=unknown(),
            has_newer_records=np.ones(metadata.row_count, dtype=bool),
        )
        answers.invalid.add_all(metadata.invalid)
        return answers

    def add_coordinator(self, coordinator: CoordinatorAnswers) -> None:
        """Add the groups of a coordinator. Raises OverLimit if all groups together are too many."""
        coordinators = [*self.coordinators, coordinator]
        check_limit(
            sum(len(each.listed) for each in coordinators),
            response_limits.GROUPS_MAX,
            "too_many_groups",
        )
        topics = sum(len(group.topics) for each in coordinators for group in each.commits)
        check_limit(topics, response_limits.GROUP_TOPICS_MAX, "too_many_group_topics")
        self.coordinators.append(coordinator)

    def put_sizes(self, broker_id: int, rows: Longs, sizes: Longs) -> bool:
        """Add the replicas of `broker_id`: a row and a size (bytes) for each.

        If a row occurs twice or a limit is exceeded, none is taken: then it returns False.
        """
        is_invalid = len(np.unique(rows)) < len(rows) or (sizes < 0).any()
        if is_invalid or sizes.astype(np.float64).sum() > SIZE_BYTES_MAX:
            self.invalid.add(Reason("broker_sizes", id=broker_id))
            return False
        led = self.metadata.leaders[rows] == broker_id
        self.size_bytes[rows[led]] = sizes[led]
        self.replicas_size_bytes[rows] = np.maximum(self.replicas_size_bytes[rows], 0) + sizes
        self.replicas_reported[rows] += 1
        self.broker_size_bytes[broker_id] = int(sizes.sum())
        return True

    def put_log_dirs(
        self, broker_id: int, log_dirs: Sequence[LogDir], sizes: Mapping[str, int]
    ) -> None:
        """Set the log directories of `broker_id`; `sizes`: path → size of the replicas in it."""
        found: dict[str, LogDir] = {}
        for each in log_dirs[: response_limits.LOG_DIRS_MAX]:
            path = printable(each.path, response_limits.TEXT_LENGTH_MAX)
            found[path] = replace(each, path=path, size_bytes=sizes.get(each.path))
        self.log_dirs[broker_id] = list(found.values())
