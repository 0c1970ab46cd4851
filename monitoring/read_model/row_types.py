"""The rows for pages, made from the columns of a tick. None = unknown."""

import math
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from monitoring.lag.lag_state import LagState
from monitoring.partial_sum import PartialSum
from monitoring.read_model.numpy_columns import float_or_none, int_or_none
from monitoring.read_model.partition_columns import TopicColumns
from monitoring.read_model.placement import Placement


def _difference(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other


def _used_percent(total_bytes: int | None, free_bytes: int | None) -> float | None:
    return None if not total_bytes or free_bytes is None else 100 * (1 - free_bytes / total_bytes)


@dataclass(frozen=True, slots=True)
class LogDirRow:
    """A log directory of a broker: its disk, and the size of the replicas in it."""

    path: str
    total_bytes: int | None
    free_bytes: int | None
    size_bytes: int | None

    @property
    def used_percent(self) -> float | None:
        return _used_percent(self.total_bytes, self.free_bytes)


@dataclass(frozen=True, slots=True)
class BrokerRow:
    id: int
    host: str
    port: int | None
    rack: str | None
    up: bool
    is_controller: bool
    source: str  # "brokerd" (its admin port) or "none"
    leaders: int
    replicas: int
    bytes_in_rate: float | None
    bytes_out_rate: float | None
    messages_rate: float | None
    connections: int | None
    rss_bytes: int | None
    cpu_cores: float | None
    disk_total_bytes: int | None
    disk_free_bytes: int | None
    log_dirs: tuple[LogDirRow, ...]
    size_bytes: int | None  # of all its replicas
    down_since_ms: int | None
    cpu_cores_recent: float | None  # the mean of the last samples; None = too few are known

    @property
    def address(self) -> str | None:
        """Its current or last known address; None = unknown."""
        if not self.host or self.port is None:
            return None
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def disk_used_percent(self) -> float | None:
        return _used_percent(self.disk_total_bytes, self.disk_free_bytes)


@dataclass(frozen=True, slots=True)
class LastRecord:
    """The time of the last record of a topic or partition: its largest timestamp.

    `is_latest` is False if there are or may be newer records. None: unknown, or (`is_latest`) there
    is no record.
    """

    at_ms: int | None
    is_latest: bool


@dataclass(frozen=True, slots=True)
class TopicReaders:
    """By topic, of the groups that read it: the worst LagState (−1 = none), the largest lag."""

    lag_state: np.ndarray
    lag: np.ndarray


class TopicDetails(Protocol):
    """What is computed for all topics when it is first asked for; implemented by Snapshot."""

    @property
    def topic_readers(self) -> TopicReaders: ...
    @property
    def placement(self) -> Placement: ...


@dataclass(slots=True, eq=False)
class TopicRow:
    """One topic. Its values are read from the columns on demand: there may be many topics, and a
    page shows few of them.
    """

    name: str
    groups: int  # the number of groups that read it
    _columns: TopicColumns
    _details: TopicDetails
    _code: int

    @property
    def is_internal(self) -> bool:
        return self.name.startswith("__")

    @property
    def partitions(self) -> int:
        return int(self._columns.partitions[self._code])

    @property
    def replication(self) -> int:
        return int(self._columns.replication[self._code])

    @property
    def offset_count(self) -> PartialSum:
        """End offsets − start offsets: more than the records in a compacted topic."""
        return self._columns.offset_count[self._code]

    @property
    def size_bytes(self) -> PartialSum:
        """The size of the leaders' replicas."""
        return self._columns.size[self._code]

    @property
    def disk_bytes(self) -> PartialSum:
        """The size of all replicas."""
        return self._columns.disk[self._code]

    @property
    def messages_rate(self) -> PartialSum:
        return self._columns.messages_rate[self._code]

    @property
    def bytes_in_rate(self) -> PartialSum:
        return self._columns.bytes_in_rate[self._code]

    @property
    def bytes_out_rate(self) -> PartialSum:
        return self._columns.bytes_out_rate[self._code]

    @property
    def last_record(self) -> LastRecord:
        has_newer = bool(self._columns.has_newer_records[self._code])
        return LastRecord(int_or_none(self._columns.last_record_ms[self._code]), not has_newer)

    @property
    def lag_state(self) -> LagState | None:
        """The worst state of a partition in a group that reads it; None = no group reads it."""
        code = int(self._details.topic_readers.lag_state[self._code])
        return None if code < 0 else LagState(code)

    @property
    def lag(self) -> int | None:
        """The largest lag of a group; None = unknown, or no group reads it."""
        return int_or_none(self._details.topic_readers.lag[self._code])

    @property
    def spread(self) -> float | None:
        """The share of the cluster's brokers that have a replica of the topic (placement.py)."""
        return float_or_none(self._details.placement.spread[self._code])

    @property
    def skew(self) -> float | None:
        return float_or_none(self._details.placement.skew[self._code])

    @property
    def leader_skew(self) -> float | None:
        return float_or_none(self._details.placement.leader_skew[self._code])

    @property
    def under_replicated(self) -> int:
        return int(self._columns.under_replicated[self._code])

    @property
    def offline(self) -> int:
        return int(self._columns.offline[self._code])


@dataclass(frozen=True, slots=True)
class PartitionRow:
    """One partition; leader −1 = none."""

    topic: str
    partition: int
    leader: int
    replicas: list[int]
    isr: list[int]
    log_start_offset: int | None
    log_end_offset: int | None
    size_bytes: int | None
    messages_rate: float | None
    bytes_in_rate: float | None
    last_record: LastRecord

    @property
    def is_offline(self) -> bool:
        return self.leader < 0

    @property
    def is_under_replicated(self) -> bool:
        return len(self.isr) < len(self.replicas)

    @property
    def offset_count(self) -> int | None:
        """End offset − start offset; equals the number of records, if none were compacted."""
        if self.log_end_offset is None or self.log_start_offset is None:
            return None
        return self.log_end_offset - self.log_start_offset


@dataclass(frozen=True, slots=True)
class GroupRow:
    """One group. `lag` is the sum of the known lags, None if none is known; `not_committed` and
    `end_unknown` count partitions that are not included, `ahead` those that count as 0 since their
    commits are beyond their ends, by `ahead_by` offsets in total. `uncommitted_records`
    = the records in the partitions without a commit, None if that is unknown for one of them.

    `lag_state` is the state of its worst partition, `lag_states` counts its partitions by
    state, the worst first (monitoring/lag/lag_state.py). Rates are per second, of the last
    minutes.

    `reported_at_ms`: if not None, the coordinator does not answer; the row is its answer
    of that time.
    """

    group: str
    state: str | None
    protocol_type: str | None
    coordinator: int | None
    members: int | None
    topics: int
    partitions: int
    lag: int | None
    ahead: int
    ahead_by: int
    not_committed: int
    end_unknown: int
    uncommitted_records: int | None
    lag_state: LagState
    lag_states: tuple[tuple[LagState, int], ...]
    consumed_rate: float | None
    produced_rate: float | None
    reported_at_ms: int | None = None

    @property
    def name(self) -> str:
        return self.group

    @property
    def lag_rate(self) -> float | None:
        """The growth of the lag, records a second; None = unknown."""
        return _difference(self.produced_rate, self.consumed_rate)

    @property
    def drained_s(self) -> float | None:
        """The seconds until the lag is 0 at this rate; None = unknown, infinite = never."""
        if self.lag is None or self.lag_rate is None or not self.lag:
            return None
        return math.inf if self.lag_rate >= 0 else self.lag / -self.lag_rate


@dataclass(frozen=True, slots=True)
class GroupOnTopicRow:
    """One group on one topic; lag as in GroupRow. `lag_state`: of its worst partition."""

    group: str
    lag_state: LagState
    state: str | None
    members: int | None
    partitions: int
    lag: int | None
    ahead: int
    ahead_by: int
    not_committed: int
    end_unknown: int
    reported_at_ms: int | None = None


@dataclass(frozen=True, slots=True)
class TopicOfGroupRow:
    """One topic that a group reads."""

    topic: str
    lag: PartialSum


@dataclass(frozen=True, slots=True)
class LagRow:
    """A partition that a group reads; `lag_note` explains a missing or negative lag.

    `uncommitted_records` = the records in it if it was never committed. `deleted_records` = how
    many of the lag are below the log start: the group can never read them. `lag_state` and rates as
    in GroupRow.
    """

    group: str
    topic: str
    partition: int
    committed_offset: int | None
    log_end_offset: int | None
    lag: int | None
    lag_note: str
    member_id: str | None
    client_id: str | None
    member_host: str | None
    uncommitted_records: int | None
    deleted_records: int | None
    lag_state: LagState
    consumed_rate: float | None
    produced_rate: float | None

    @property
    def lag_rate(self) -> float | None:
        return _difference(self.produced_rate, self.consumed_rate)


@dataclass(frozen=True, slots=True)
class Totals:
    """The totals of one cluster at one tick."""

    brokers: int = 0
    brokers_up: int = 0
    topics: int = 0
    partitions: int = 0
    under_replicated: int = 0
    offline: int = 0
    # Topics to which records are written now, and the others; without internal topics.
    topics_active: int = 0
    topics_idle: int = 0
    groups: int = 0
    groups_silent: int = 0  # groups whose coordinators do not answer
    disk_bytes: PartialSum = field(default_factory=PartialSum)
    # The sums over the disks of all brokers.
    disk_free_bytes: PartialSum = field(default_factory=PartialSum)
    disk_total_bytes: PartialSum = field(default_factory=PartialSum)
    messages_rate: PartialSum = field(default_factory=PartialSum)
    bytes_in_rate: PartialSum = field(default_factory=PartialSum)
    bytes_out_rate: PartialSum = field(default_factory=PartialSum)
    lag: PartialSum = field(default_factory=PartialSum)
