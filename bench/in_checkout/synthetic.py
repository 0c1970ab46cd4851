"""A cluster that does not exist: what a sample would say of it, as columns by their names. Pure.

Everything follows from the size and the number of the tick, so that two checkouts are shown the
same. Topics have one to many partitions, four on average; a third of the partitions is busy; a
group reads two topics. One partition in a thousand is under-replicated, no broker is down.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

SLUG = "bench"
PARTITIONS_PER_TOPIC, TOPICS_PER_GROUP, GROUPS_PER_TOPIC = 4, 2, 5
REPLICAS = 3
LAG_RARE = 1_000_000
"""What one group in a hundred has at least: an alert rule finds those."""
_DOMAINS = ("orders", "payments", "clicks", "stock", "users", "mails", "prices", "logs")
_SHARES = (9, 0, 1, 2)  # of the partitions beyond the first of each topic, in turn
_BROKERS = 12
_BUSY = 0.33
_COUNTERS = ("bytes_in", "bytes_out", "messages_in")

Columns = dict[str, Any]


@dataclass(frozen=True)
class Synthetic:
    """A cluster of so many topics, four times as many partitions and a fifth as many groups."""

    topic_count: int

    @cached_property
    def topics(self) -> list[str]:
        """The names; one in eight begins with "orders"."""
        return [f"{_DOMAINS[n % len(_DOMAINS)]}.events-{n:05}" for n in range(self.topic_count)]

    @cached_property
    def groups(self) -> list[str]:
        """The names."""
        count = max(1, self.topic_count // GROUPS_PER_TOPIC)
        return [f"{_DOMAINS[n % len(_DOMAINS)]}-reader-{n:05}" for n in range(count)]

    @cached_property
    def partition_counts(self) -> np.ndarray:
        """How many partitions each topic has: at least one."""
        beyond = self.topic_count * (PARTITIONS_PER_TOPIC - 1)
        shares = np.cumsum(np.resize(_SHARES, self.topic_count))
        up_to = shares * beyond // shares[-1]
        return 1 + np.diff(up_to, prepend=0)

    @cached_property
    def _of_partition(self) -> dict[str, np.ndarray]:
        """What never changes of each partition."""
        counts = self.partition_counts
        topic = np.repeat(np.arange(self.topic_count), counts)
        starts = np.cumsum(counts) - counts
        row = np.arange(len(topic))
        random = np.random.default_rng(len(topic))
        busy = random.random(len(topic)) < _BUSY
        rate = np.where(busy, random.exponential(200, len(topic)), 0).astype(np.int64) + 1
        first = random.integers(1, _BROKERS + 1, len(topic))
        replicas = (first[:, None] - 1 + np.arange(REPLICAS)) % _BROKERS + 1
        return {
            "topic": topic,
            "partition": row - starts[topic],
            "starts": starts,
            "rate": rate,
            "replicas": replicas.astype(np.int32),
            "isr_size": np.where(row % 1000 == 999, REPLICAS - 1, REPLICAS),
        }

    def partitions(self, tick: int) -> Columns:
        """A row for each partition. `topic` is a list of names and their indices."""
        known = self._of_partition
        count = len(known["topic"])
        ends = known["rate"] * tick
        size = np.minimum(ends * 100, 1 << 30)
        in_sync = np.arange(REPLICAS) < known["isr_size"][:, None]
        return {
            "topic": (self.topics, known["topic"]),
            "partition": known["partition"],
            "leader": known["replicas"][:, 0],
            "replicas": (known["replicas"].ravel(), np.full(count, REPLICAS)),
            "isr": (known["replicas"][in_sync], known["isr_size"]),
            "log_start_offset": np.maximum(ends - size // 100, 0),
            "log_end_offset": ends,
            "size_bytes": size,
            "replicas_size_bytes": size * REPLICAS,
            "replicas_reported": np.full(count, REPLICAS),
            "bytes_in": ends * 100,
            "bytes_out": ends * 250,
            "messages_in": ends,
        }

    @cached_property
    def _of_group_row(self) -> dict[str, np.ndarray]:
        """What never changes of each row of a group: (group, row of the partition, lag, …)."""
        known = self._of_partition
        groups, rows = [], []
        for group in range(len(self.groups)):
            for one in range(TOPICS_PER_GROUP):
                topic = (group * GROUPS_PER_TOPIC + one) % self.topic_count
                start = known["starts"][topic]
                found = np.arange(start, start + self.partition_counts[topic])
                rows.append(found)
                groups.append(np.full(len(found), group))
        group, row = np.concatenate(groups), np.concatenate(rows)
        lag = np.random.default_rng(len(row)).exponential(50, len(row)).astype(np.int64)
        lag[group % 100 == 99] += LAG_RARE
        return {"group": group, "row": row, "lag": lag}

    def group_rows(self, tick: int) -> Columns:
        """A row for each partition that a group reads; lag goes up and down with the ticks."""
        known, partitions = self._of_group_row, self._of_partition
        group, row = known["group"], known["row"]
        ends = partitions["rate"][row] * tick
        lag = (known["lag"] * (1.5 + np.sin(tick / 40 + group))).astype(np.int64)
        lag = np.minimum(lag, ends)
        is_empty = group % 20 == 19
        members = [f"consumer-{n}" for n in range(2)]
        member = partitions["partition"][row] % 2
        return {
            "group": (self.groups, group),
            "state": (["Stable", "Empty"], is_empty.astype(np.int64)),
            "protocol_type": (["consumer"], np.zeros(len(group), np.int64)),
            "coordinator": group % _BROKERS + 1,
            "members": np.where(is_empty, 0, 2),
            "topic": (self.topics, partitions["topic"][row]),
            "partition": partitions["partition"][row],
            "committed_offset": ends - lag,
            "log_end_offset": ends,
            "member_id": (members, np.where(is_empty, -1, member)),
            "client_id": (members, np.where(is_empty, -1, member)),
            "member_host": (["10.0.0.1", "10.0.0.2"], np.where(is_empty, -1, member)),
        }

    def brokers(self, tick: int) -> list[dict[str, Any]]:
        """The brokers as a sample names them: all up, and they tell their figures."""
        total = int(self._of_partition["rate"].sum()) * tick // _BROKERS
        return [
            {
                "id": number, "host": f"10.1.0.{number}", "port": 9092, "rack": f"r{number % 3}",
                "up": True, "source": "brokerd", "down_since_ms": None,
                "size_bytes": 1 << 38, "bytes_in": total * 100, "bytes_out": total * 250,
                "messages_in": total, "requests": total // 50, "connections": 900,
                "rss_bytes": 1 << 30, "cpu_seconds": tick / 2,
                "disk_total_bytes": 1 << 40, "disk_free_bytes": 1 << 39,
            }
            for number in range(1, _BROKERS + 1)
        ]  # fmt: skip
