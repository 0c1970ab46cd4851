"""One tick as columns: the data that does not depend on the scope. Pure.

Made once for each tick; the snapshots of all scopes (snapshot.py) share it. Of the tick before only
the growth since is kept.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from monitoring.read_model.group_columns import GroupColumns
from monitoring.read_model.partition_columns import PartitionColumns, TopicColumns
from monitoring.ticks.tick import Tick

_BROKER_COUNTERS = ("bytes_in", "bytes_out", "messages_in", "requests", "cpu_seconds")


@dataclass(frozen=True, slots=True)
class TickColumns:
    """The columns of one tick; `growth` is a second's, since the tick before."""

    tick: Tick
    partitions: PartitionColumns
    growth: dict[str, np.ndarray]
    broker_growth: dict[int, dict[str, float | None]]
    topics: TopicColumns
    groups: GroupColumns
    topic_of_pair: np.ndarray  # the code in `topics` of what each pair reads; −1 = not there

    @classmethod
    def of(cls, tick: Tick, before: "TickColumns | None" = None) -> "TickColumns":
        partitions = PartitionColumns.of(tick, before.partitions if before else None)
        groups = GroupColumns.of(tick, before.groups if before else None)
        growth = partitions.growth(before.partitions if before else None)
        codes = np.append(groups.topics.codes_in(partitions.topics), -1)  # the last: of no topic
        return cls(
            tick=tick,
            partitions=partitions,
            growth=growth,
            broker_growth=_broker_growth(tick, before.tick if before else None),
            topics=TopicColumns.of(partitions, growth),
            groups=groups,
            topic_of_pair=codes[groups.topic],
        )

    @property
    def is_of_absent_topic(self) -> np.ndarray:
        """Of each pair whether it is of a topic that the cluster does not have (any more)."""
        is_there = np.append(self.topics.partitions > 0, False)
        absent: np.ndarray = (self.groups.topic >= 0) & ~is_there[self.topic_of_pair]
        return absent


def _broker_growth(tick: Tick, before: Tick | None) -> dict[int, dict[str, float | None]]:
    """The brokers' rates; a counter that went back (the broker restarted) has no rate."""
    earlier = {broker["id"]: broker for broker in before.brokers} if before else {}
    seconds = (tick.at_ms - before.at_ms) / 1000 if before else 0.0
    return {
        broker["id"]: {
            name: _growth(broker, earlier.get(broker["id"], {}), name, seconds)
            for name in _BROKER_COUNTERS
        }
        for broker in tick.brokers
    }


def _growth(now: dict[str, Any], then: dict[str, Any], name: str, seconds: float) -> float | None:
    a, b = then.get(name), now.get(name)
    if a is None or b is None or b < a or seconds <= 0:
        return None
    return float(b - a) / seconds
