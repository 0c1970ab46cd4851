"""One tick, summed up for people: totals, brokers, topics, groups, and details on demand.

Pure: a tick and the one before in (rates are the difference), rows out. A snapshot is made for
one set of visible topics, so nothing of a hidden topic is in it, not even in a sum. Figures of
brokers are the brokers' own and cover everything.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from monitoring.lag.tables import group_totals, of_name, topic_totals, with_lag
from monitoring.ticks.tick import Tick
from monitoring.views.columns import (
    Partitions,
    counts,
    flat,
    kept_groups,
    names,
    number,
    sums_of,
    total,
    whole,
)
from monitoring.views.partial_sum import PartialSum
from monitoring.views.rows import (
    BrokerRow,
    GroupOnTopicRow,
    GroupRow,
    LagRow,
    PartitionRow,
    TopicRow,
    Totals,
)


def everything(topic: str) -> bool:
    return True


@dataclass(frozen=True)
class Snapshot:
    """What is known of a cluster at one tick; each part is computed when first asked for."""

    tick: Tick
    before: Tick | None
    keep: Callable[[str], bool] = everything

    @property
    def at_ms(self) -> int:
        return self.tick.at_ms

    @cached_property
    def _partitions(self) -> Partitions:
        return Partitions.of(self.tick, self.keep)

    @cached_property
    def _rates(self) -> dict[str, np.ndarray]:
        before = Partitions.of(self.before, self.keep) if self.before else None
        now = self._partitions
        return {name: now.rate(before, name) for name in ("end", "bytes_in", "bytes_out")}

    @cached_property
    def _groups(self) -> pa.Table:
        return kept_groups(self.tick, self.keep)

    @cached_property
    def topics(self) -> list[TopicRow]:
        """One row per topic, by name."""
        p, rates = self._partitions, self._rates
        n = len(p.topics)
        present = counts(np.ones(len(p.topic), bool), p.topic, n)
        replication = np.zeros(n, dtype=np.int64)
        np.maximum.at(replication, p.topic, p.replica_count)
        offsets = sums_of(p.end - p.start, p.topic, n)
        size = sums_of(p.size, p.topic, n)
        disk = self._disk_by_topic
        grown = {name: sums_of(values, p.topic, n) for name, values in rates.items()}
        under = counts(p.isr_count < p.replica_count, p.topic, n)
        offline = counts(p.leader < 0, p.topic, n)
        readers = self._reader_counts
        rows = [
            TopicRow(
                name=p.topics[i],
                partitions=int(present[i]),
                replication=int(replication[i]),
                offsets=offsets[i],
                size_bytes=size[i],
                disk_bytes=disk[i],
                messages_rate=grown["end"][i],
                bytes_in_rate=grown["bytes_in"][i],
                bytes_out_rate=grown["bytes_out"][i],
                under_replicated=int(under[i]),
                offline=int(offline[i]),
                groups=readers.get(p.topics[i], 0),
            )
            for i in range(n)
            if present[i]
        ]
        return sorted(rows, key=lambda row: row.name)

    @cached_property
    def _disk_by_topic(self) -> list[PartialSum]:
        p, n = self._partitions, len(self._partitions.topics)
        size = sums_of(p.replicas_size, p.topic, n)
        of = np.bincount(p.topic, weights=p.replica_count, minlength=n).astype(np.int64).tolist()
        told = np.bincount(p.topic, weights=p.replicas_told, minlength=n).astype(np.int64).tolist()
        return [_of_replicas(size[i].value, of[i], told[i]) for i in range(n)]

    @cached_property
    def _reader_counts(self) -> dict[str, int]:
        """Topic → how many groups have committed to it or are assigned a partition of it."""
        pairs = self._groups.select(["group", "topic"]).group_by(["topic", "group"]).aggregate([])
        topic, topics = names(pairs["topic"])
        per_topic = np.bincount(topic[topic >= 0], minlength=len(topics))
        return dict(zip(topics, per_topic.tolist(), strict=True))

    def topic(self, name: str) -> TopicRow | None:
        return next((row for row in self.topics if row.name == name), None)

    def partitions(self, topic: str) -> list[PartitionRow]:
        """The partitions of a topic, by number; empty for a topic that is not there."""
        p = self._partitions
        if topic not in p.topics:
            return []
        rows = np.nonzero(p.topic == p.topics.index(topic))[0]
        table = p.table.take(pa.array(rows))
        replicas, isr = table["replicas"].to_pylist(), table["isr"].to_pylist()
        found = [
            PartitionRow(
                topic=topic,
                partition=int(p.partition[row]),
                leader=int(p.leader[row]),
                replicas=replicas[i] or [],
                isr=isr[i] or [],
                log_start_offset=whole(p.start[row]),
                log_end_offset=whole(p.end[row]),
                size_bytes=whole(p.size[row]),
                messages_rate=number(self._rates["end"][row]),
                bytes_in_rate=number(self._rates["bytes_in"][row]),
            )
            for i, row in enumerate(rows)
        ]
        return sorted(found, key=lambda row: row.partition)

    @cached_property
    def _group_totals(self) -> pa.Table:
        return group_totals(self._groups)

    @cached_property
    def groups(self) -> list[GroupRow]:
        """One row per group, by name; the sums are monitoring.lag's, as in alerts."""
        return [GroupRow(**row) for row in _rows(self._group_totals, GroupRow)]

    def group(self, name: str) -> GroupRow | None:
        return next((row for row in self.groups if row.name == name), None)

    def read_by(self, group: str) -> pa.Table:
        """What one group reads: its rows of the tick, without one that is of no topic."""
        rows = of_name(self._groups, "group", group)
        return rows.filter(pc.is_valid(rows["partition"]))

    def lags(
        self, *, group: str | None = None, topic: str | None = None, count_max: int | None = None
    ) -> list[LagRow]:
        """What one group reads, or who reads one topic, partition by partition: the first ones."""
        if group is not None:
            table = self.read_by(group)
        else:
            table = of_name(self._groups, "topic", topic or "")
        # Arrow sorts no dictionaries.
        keys = {name: table[name].cast(pa.string()) for name in ("topic", "group")}
        keys["partition"] = table["partition"]
        order = [(name, "ascending") for name in ("topic", "partition", "group")]
        first = pc.sort_indices(pa.table(keys), sort_keys=order)[:count_max]
        return [LagRow(**row) for row in _rows(with_lag(table.take(first)), LagRow)]

    def readers(self, topic: str) -> list[GroupOnTopicRow]:
        """The groups that read a topic, by name, with their part of its lag."""
        totals = topic_totals(of_name(self._groups, "topic", topic))
        return [GroupOnTopicRow(**row) for row in _rows(totals, GroupOnTopicRow)]

    @cached_property
    def brokers(self) -> list[BrokerRow]:
        """One row per broker, by id."""
        p = self._partitions
        led = _by_id(p.leader)
        held = _by_id(flat(p.table["replicas"]))
        earlier = {b["id"]: b for b in self.before.brokers} if self.before else {}
        seconds = (self.at_ms - self.before.at_ms) / 1000 if self.before else 0.0
        rows = []
        for b in sorted(self.tick.brokers, key=lambda broker: broker["id"]):
            then = earlier.get(b["id"], {})
            rows.append(
                BrokerRow(
                    id=b["id"],
                    host=b.get("host") or "",
                    port=b.get("port"),
                    rack=b.get("rack"),
                    up=bool(b.get("up")),
                    is_controller=b["id"] == self.tick.controller_id,
                    source=b.get("source") or "none",
                    leaders=led.get(b["id"], 0),
                    replicas=held.get(b["id"], 0),
                    bytes_in_rate=_growth(b, then, "bytes_in", seconds),
                    bytes_out_rate=_growth(b, then, "bytes_out", seconds),
                    messages_rate=_growth(b, then, "messages_in", seconds),
                    requests_rate=_growth(b, then, "requests", seconds),
                    connections=b.get("connections"),
                    rss_bytes=b.get("rss_bytes"),
                    cpu_cores=_growth(b, then, "cpu_seconds", seconds),
                    disk_total_bytes=b.get("disk_total_bytes"),
                    disk_free_bytes=b.get("disk_free_bytes"),
                    size_bytes=b.get("size_bytes"),
                    down_since_ms=b.get("down_since_ms"),
                )
            )
        return rows

    @cached_property
    def totals(self) -> Totals:
        """The cluster in a line, straight from the columns: made for every tick of a history."""
        p, brokers, groups = self._partitions, self.brokers, self._group_totals
        told = groups.filter(pc.is_null(groups["told_at_ms"]))
        states = told["state"].value_counts().to_pylist() if len(told) else []
        return Totals(
            brokers=len(brokers),
            brokers_up=sum(broker.up for broker in brokers),
            topics=len(np.unique(p.topic)),
            partitions=len(p.topic),
            under_replicated=int((p.isr_count < p.replica_count).sum()),
            offline=int((p.leader < 0).sum()),
            groups=len(groups),
            groups_by_state={row["values"] or "": row["counts"] for row in states},
            groups_silent=len(groups) - len(told),
            disk_bytes=_of_replicas(
                total(p.replicas_size).value,
                int(p.replica_count.sum()),
                int(p.replicas_told.sum()),
            ),
            messages_rate=total(self._rates["end"]),
            bytes_in_rate=_total(broker.bytes_in_rate for broker in brokers),
            bytes_out_rate=_total(broker.bytes_out_rate for broker in brokers),
            lag=self._lag,
        )

    @property
    def _lag(self) -> PartialSum:
        """Of every group; partitions without a commit have none and are no part of it."""
        groups = self._group_totals
        sums = {
            name: pc.sum(groups[name]).as_py() or 0
            for name in ("end_unknown", "partitions", "not_committed", "ahead", "ahead_by")
        }
        of = sums["partitions"] - sums["not_committed"]
        return PartialSum(
            pc.sum(groups["lag"]).as_py(),
            sums["end_unknown"],
            of,
            has_unseen_parts=not self.tick.groups_complete,
            ahead=sums["ahead"],
            ahead_by=sums["ahead_by"],
        )


def _rows(table: pa.Table, row: type) -> list[dict[str, Any]]:
    """The table's rows, with the columns that the row type has."""
    columns: list[str] = list(row.__slots__)  # type: ignore[attr-defined]
    found: list[dict[str, Any]] = table.select(columns).to_pylist()
    return found


def _by_id(ids: np.ndarray) -> dict[int, int]:
    found, n = np.unique(ids[ids >= 0], return_counts=True)
    return dict(zip(found.tolist(), n.tolist(), strict=True))


def _growth(now: dict[str, Any], then: dict[str, Any], name: str, seconds: float) -> float | None:
    a, b = then.get(name), now.get(name)
    if a is None or b is None or b < a or seconds <= 0:
        return None
    return float(b - a) / seconds


def _total(values: Iterable[float | None]) -> PartialSum:
    """The sum of what brokers told."""
    told = list(values)
    known = [value for value in told if value is not None]
    value = float(sum(known)) if known else None
    return PartialSum(value, len(told) - len(known), len(told), "brokers")


def _of_replicas(value: float | None, of: int, told: int) -> PartialSum:
    return PartialSum(value, max(0, of - told), of, "replicas")
