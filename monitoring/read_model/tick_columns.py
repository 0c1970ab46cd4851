"""One tick as columns: the data that does not depend on the scope. Pure.

Made once per tick; the snapshots of all scopes (snapshot.py) share it. It does not reference the
previous tick: it has the growth since then, and the offsets of the last minutes
(recent_offsets.py).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from monitoring.read_model.group_columns import GroupColumns
from monitoring.read_model.partition_columns import PartitionColumns, TopicColumns
from monitoring.read_model.recent_offsets import RecentOffsets
from monitoring.ticks.tick import Tick

CPU_SAMPLES_MIN, CPU_SAMPLES_MAX = 3, 12  # for a mean
_BROKER_COUNTERS = ("bytes_in", "bytes_out", "messages_in", "cpu_seconds")


@dataclass(frozen=True, slots=True)
class TickColumns:
    """The columns of one tick; `growth` is per second, since the previous tick."""

    tick: Tick
    partitions: PartitionColumns
    growth: dict[str, np.ndarray]
    broker_growth: dict[int, dict[str, float | None]]
    broker_cpu: dict[int, tuple[float, ...]]  # the cores used in the last samples, the newest last
    topics: TopicColumns
    groups: GroupColumns
    commits: RecentOffsets
    topic_of_pair: np.ndarray  # per pair, the topic's code in `topics`; −1 = it does not exist

    @classmethod
    def of(cls, tick: Tick, previous: "TickColumns | None" = None) -> "TickColumns":
        partitions = PartitionColumns.of(tick, previous.partitions if previous else None)
        groups = GroupColumns.of(tick, previous.groups if previous else None)
        growth = partitions.growth(previous.partitions if previous else None)
        broker_growth = _broker_growth(tick, previous.tick if previous else None)
        commits = RecentOffsets.of(groups, tick.at_ms, previous.commits if previous else None)
        # The last code is for pairs without a topic.
        codes = np.append(groups.topic_names.codes_in(partitions.topic_names), -1)
        return cls(
            tick=tick,
            partitions=partitions,
            growth=growth,
            broker_growth=broker_growth,
            broker_cpu=_recent_cpu(broker_growth, previous.broker_cpu if previous else {}),
            topics=TopicColumns.of(partitions, growth),
            groups=groups,
            commits=commits,
            topic_of_pair=codes[groups.topic],
        )

    def records(self, rows: np.ndarray) -> np.ndarray:
        """For rows of the group table: the records in their partitions; NaN = unknown."""
        found = self.commits.rows
        return self.partitions.records(self.topic_of_pair[found.pair[rows]], found.partition[rows])

    @property
    def is_topic_absent(self) -> np.ndarray:
        """For each pair: whether its topic does not exist (any more) in the cluster."""
        exists = np.append(self.topics.partitions > 0, False)
        absent: np.ndarray = (self.groups.topic >= 0) & ~exists[self.topic_of_pair]
        return absent


def _broker_growth(tick: Tick, previous: Tick | None) -> dict[int, dict[str, float | None]]:
    """The brokers' rates; a counter that decreased (the broker restarted) has no rate."""
    earlier = {broker["id"]: broker for broker in previous.brokers} if previous else {}
    seconds = (tick.at_ms - previous.at_ms) / 1000 if previous else 0.0
    return {
        broker["id"]: {
            name: _growth(broker, earlier.get(broker["id"], {}), name, seconds)
            for name in _BROKER_COUNTERS
        }
        for broker in tick.brokers
    }


def _recent_cpu(
    growth: dict[int, dict[str, float | None]], earlier: dict[int, tuple[float, ...]]
) -> dict[int, tuple[float, ...]]:
    """The cores that each broker used in its last samples; an unknown value empties the list."""
    newest = {broker: rates["cpu_seconds"] for broker, rates in growth.items()}
    return {
        broker: () if cores is None else (*earlier.get(broker, ()), cores)[-CPU_SAMPLES_MAX:]
        for broker, cores in newest.items()
    }


def _growth(
    broker: dict[str, Any], earlier: dict[str, Any], name: str, seconds: float
) -> float | None:
    start, end = earlier.get(name), broker.get(name)
    if start is None or end is None or end < start or seconds <= 0:
        return None
    return float(end - start) / seconds
