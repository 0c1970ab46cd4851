"""One tick, summed up for people: totals, brokers, topics, groups, and details on demand.

Pure: the columns of a tick in (tick_columns.py), rows out. A snapshot is made for one scope, so
nothing of a topic or a group outside it is in any of its sums. Figures of brokers are the brokers'
own and cover everything. Topics, groups and a group on a topic are found by name without making
the rows of the others. Threads share a snapshot without a lock: what two of them make at the same
time is equal (Django's cached_property has none, that of Python 3.11 has one for all instances).
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from django.utils.functional import cached_property

from monitoring.lag.tables import with_lag
from monitoring.read_model.columns import Names, number, whole
from monitoring.read_model.group_columns import LagSums
from monitoring.read_model.partial_sum import PartialSum
from monitoring.read_model.rows import (
    BrokerRow,
    GroupOnTopicRow,
    GroupRow,
    LagRow,
    PartitionRow,
    TopicOfGroupRow,
    TopicRow,
    Totals,
)
from monitoring.read_model.tick_columns import TickColumns
from monitoring.scope import EVERYTHING, Scope
from monitoring.ticks.tick import Tick

Row = TypeVar("Row")


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A cluster at one tick, for one scope; each part is computed on first use."""

    columns: TickColumns
    scope: Scope = EVERYTHING

    @classmethod
    def of(cls, tick: Tick, before: Tick | None = None, scope: Scope = EVERYTHING) -> "Snapshot":
        """Of a tick, with what has grown since the tick before."""
        earlier = TickColumns.of(before) if before else None
        return cls(TickColumns.of(tick, earlier), scope)

    @property
    def tick(self) -> Tick:
        return self.columns.tick

    @property
    def at_ms(self) -> int:
        return self.tick.at_ms

    @cached_property
    def shows_all(self) -> bool:
        """Whether nothing of the tick is outside the scope."""
        return bool(self._shows_topic.all() and self._shows_pair.all())

    @cached_property
    def _shows_topic(self) -> np.ndarray:
        """Of each topic of the partitions: whether it is there and in the scope."""
        shown = _topics_shown(self.columns.partitions.topics, self.scope)
        return shown & (self.columns.topics.partitions > 0)

    @cached_property
    def _shows_pair(self) -> np.ndarray:
        """Of each group on a topic; a group that reads only topics outside the scope has none."""
        groups = self.columns.groups
        group = groups.groups.matching(self.scope.groups)
        topic = _topics_shown(groups.topics, self.scope)
        shown: np.ndarray = group[groups.group] & np.append(topic, True)[groups.topic]
        return shown

    @cached_property
    def _shows_partition(self) -> np.ndarray:
        shown: np.ndarray = self._shows_topic[self.columns.partitions.topic]
        return shown

    # Topics and their partitions.

    @cached_property
    def topics(self) -> list[TopicRow]:
        """One row per topic, by name."""
        order = self.columns.partitions.topics.order
        return self._topic_rows(order[self._shows_topic[order]])

    def topic(self, name: str) -> TopicRow | None:
        code = self._topic_code(name)
        return None if code is None else self._topic_rows(np.array([code]))[0]

    def has_topic(self, name: str) -> bool:
        return self._topic_code(name) is not None

    def busiest_topics(self, count: int) -> list[TopicRow]:
        """Those with the most messages a second; also those at rest, by name, to fill up."""
        names = self.columns.partitions.topics
        codes = names.order[self._shows_topic[names.order]]
        rates = np.nan_to_num(self.columns.topics.messages_rate.values[codes])
        return self._topic_rows(codes[np.argsort(-rates, kind="stable")[:count]])

    def partitions(self, topic: str) -> list[PartitionRow]:
        """The partitions of a topic, by number; empty for a topic that is not there."""
        code = self._topic_code(topic)
        if code is None:
            return []
        p, growth = self.columns.partitions, self.columns.growth
        rows = p.by_topic.rows(code)
        rows = rows[np.argsort(p.partition[rows], kind="stable")]
        lists = p.table.select(["replicas", "isr"]).take(pa.array(rows))
        replicas, isr = lists["replicas"].to_pylist(), lists["isr"].to_pylist()
        return [
            PartitionRow(
                topic=topic,
                partition=int(p.partition[row]),
                leader=int(p.leader[row]),
                replicas=replicas[i] or [],
                isr=isr[i] or [],
                log_start_offset=whole(p.start[row]),
                log_end_offset=whole(p.end[row]),
                size_bytes=whole(p.size[row]),
                messages_rate=number(growth["end"][row]),
                bytes_in_rate=number(growth["bytes_in"][row]),
            )
            for i, row in enumerate(rows.tolist())
        ]

    def _topic_code(self, name: str) -> int | None:
        code = self.columns.partitions.topics.code_of.get(name)
        return code if code is not None and self._shows_topic[code] else None

    def _topic_rows(self, codes: np.ndarray) -> list[TopicRow]:
        columns, names = self.columns.topics, self.columns.topics.names
        readers = self._reader_counts[codes].tolist()
        told = zip(codes.tolist(), readers, strict=True)
        return [TopicRow(names[code], n, columns, code) for code, n in told]

    @cached_property
    def _reader_counts(self) -> np.ndarray:
        """Of each topic how many groups have committed to it or are assigned a partition of it."""
        found = self.columns.topic_of_pair[self._shows_pair]
        return np.bincount(found[found >= 0], minlength=len(self.columns.topics.names))

    # Groups and their lag.

    @cached_property
    def _group_sums(self) -> LagSums:
        groups = self.columns.groups
        return groups.sums.by(groups.group, len(groups.groups.all), self._shows_pair)

    @cached_property
    def _topic_counts(self) -> np.ndarray:
        """Of each group how many topics it reads."""
        groups = self.columns.groups
        read = groups.group[self._shows_pair & (groups.topic >= 0)]
        return np.bincount(read, minlength=len(groups.groups.all))

    @cached_property
    def _shows_group(self) -> np.ndarray:
        groups = self.columns.groups
        shown = np.zeros(len(groups.groups.all), dtype=bool)
        shown[groups.group[self._shows_pair]] = True
        return shown

    @cached_property
    def _group_codes(self) -> np.ndarray:
        order = self.columns.groups.groups.order
        shown: np.ndarray = order[self._shows_group[order]]
        return shown

    @cached_property
    def groups(self) -> list[GroupRow]:
        """One row per group, by name."""
        return self._group_rows(self._group_codes)

    @property
    def group_names(self) -> list[str]:
        names = self.columns.groups.groups.all
        return [names[code] for code in self._group_codes.tolist()]

    def group(self, name: str) -> GroupRow | None:
        code = self._group_code(name)
        return None if code is None else self._group_rows(np.array([code]))[0]

    def groups_most_behind(self, count: int) -> list[GroupRow]:
        """The groups with the most lag; groups with unknown lag come last."""
        sums, codes = self._group_sums, self._group_codes
        lag = np.where(sums.known[codes] > 0, sums.lag[codes], -1)
        order = np.lexsort((-sums.ahead_by[codes], -lag))
        return self._group_rows(codes[order[:count]])

    def group_on_topic(self, group: str, topic: str) -> GroupOnTopicRow | None:
        """One group on one topic."""
        found = self._pairs_of_group(group)
        code = self.columns.groups.topics.code_of.get(topic, -2)
        rows = self._reader_rows(found[self.columns.groups.topic[found] == code])
        return rows[0] if rows else None

    def readers(self, topic: str) -> list[GroupOnTopicRow]:
        """The groups that read a topic, by name, with their part of its lag."""
        pairs = self._pairs_of_topic(topic)
        groups = self.columns.groups
        return self._reader_rows(pairs[np.argsort(groups.groups.rank[groups.group[pairs]])])

    def topics_of_group(self, group: str, count_max: int) -> list[TopicOfGroupRow]:
        """The first topics that a group reads, by name."""
        groups, pairs = self.columns.groups, self._pairs_of_group(group)
        pairs = pairs[groups.topic[pairs] >= 0]
        first = pairs[np.argsort(groups.topics.rank[groups.topic[pairs]])][:count_max]
        return [
            TopicOfGroupRow(groups.topics.all[groups.topic[pair]], groups.sums[pair])
            for pair in first.tolist()
        ]

    def hides_topics_of(self, group: str) -> bool:
        """Whether the group reads a topic that is hidden here."""
        code = self.columns.groups.groups.code_of.get(group)
        if code is None:
            return False
        return len(self._pairs_of_group(group)) < len(self.columns.groups.pairs_of_group(code))

    def read_by(self, group: str) -> pa.Table:
        """What one group reads: its rows of the tick, without one that is of no topic."""
        groups, pairs = self.columns.groups, self._pairs_of_group(group)
        return groups.table.take(pa.array(groups.rows(pairs[groups.topic[pairs] >= 0])))

    def lags(
        self, *, group: str | None = None, topic: str | None = None, count_max: int | None = None
    ) -> list[LagRow]:
        """What one group reads, or who reads one topic, partition by partition: the first ones."""
        groups = self.columns.groups
        pairs = self._pairs_of_topic(topic or "") if group is None else self._pairs_of_group(group)
        pairs = pairs[groups.topic[pairs] >= 0]
        rows = groups.rows(pairs)
        times = groups.starts[pairs + 1] - groups.starts[pairs]
        keys = (
            np.repeat(groups.groups.rank[groups.group[pairs]], times),
            groups.table["partition"].take(pa.array(rows)).to_numpy(),
            np.repeat(groups.topics.rank[groups.topic[pairs]], times),
        )
        first = rows[np.lexsort(keys)[:count_max]]
        found = with_lag(groups.table.take(pa.array(first)))
        return _made(LagRow, found.select(list(LagRow.__slots__)).to_pydict())

    def _group_code(self, name: str) -> int | None:
        code = self.columns.groups.groups.code_of.get(name)
        return code if code is not None and self._shows_group[code] else None

    def _pairs_of_group(self, name: str) -> np.ndarray:
        code = self._group_code(name)
        if code is None:
            return np.empty(0, dtype=np.int64)
        pairs = self.columns.groups.pairs_of_group(code)
        shown: np.ndarray = pairs[self._shows_pair[pairs]]
        return shown

    def _pairs_of_topic(self, name: str) -> np.ndarray:
        groups = self.columns.groups
        code = groups.topics.code_of.get(name, -2)
        return np.flatnonzero((groups.topic == code) & self._shows_pair)

    def _group_rows(self, codes: np.ndarray) -> list[GroupRow]:
        groups = self.columns.groups
        columns = {
            **groups.facts.take(pa.array(codes)).to_pydict(),
            **self._group_sums.take(codes).lists(),
            "group": [groups.groups.all[code] for code in codes.tolist()],
            "topics": self._topic_counts[codes].tolist(),
        }
        return _made(GroupRow, columns)

    def _reader_rows(self, pairs: np.ndarray) -> list[GroupOnTopicRow]:
        groups = self.columns.groups
        codes = groups.group[pairs]
        columns = {
            **groups.facts.take(pa.array(codes)).to_pydict(),
            **groups.sums.take(pairs).lists(),
            "group": [groups.groups.all[code] for code in codes.tolist()],
        }
        return _made(GroupOnTopicRow, columns)

    # Brokers and the cluster as a whole.

    @cached_property
    def brokers(self) -> list[BrokerRow]:
        """One row per broker, by id."""
        p = self.columns.partitions
        led = _by_id(p.leader[self._shows_partition])
        replicas, rows = p.replicas()
        held = _by_id(replicas[self._shows_partition[rows]])
        told = sorted(self.tick.brokers, key=lambda broker: broker["id"])
        return [self._broker_row(b, led.get(b["id"], 0), held.get(b["id"], 0)) for b in told]

    def _broker_row(self, broker: dict[str, Any], leaders: int, replicas: int) -> BrokerRow:
        growth = self.columns.broker_growth[broker["id"]]
        return BrokerRow(
            id=broker["id"],
            host=broker.get("host") or "",
            port=broker.get("port"),
            rack=broker.get("rack"),
            up=bool(broker.get("up")),
            is_controller=broker["id"] == self.tick.controller_id,
            source=broker.get("source") or "none",
            leaders=leaders,
            replicas=replicas,
            bytes_in_rate=growth["bytes_in"],
            bytes_out_rate=growth["bytes_out"],
            messages_rate=growth["messages_in"],
            requests_rate=growth["requests"],
            connections=broker.get("connections"),
            rss_bytes=broker.get("rss_bytes"),
            cpu_cores=growth["cpu_seconds"],
            disk_total_bytes=broker.get("disk_total_bytes"),
            disk_free_bytes=broker.get("disk_free_bytes"),
            size_bytes=broker.get("size_bytes"),
            down_since_ms=broker.get("down_since_ms"),
        )

    @cached_property
    def totals(self) -> Totals:
        """The cluster's totals, computed from the columns; used for each tick of a history."""
        topics, shown, brokers = self.columns.topics, self._shows_topic, self.brokers
        facts = self.columns.groups.facts.take(pa.array(self._group_codes))
        states = facts["state"].filter(facts["told_at_ms"].is_null())
        return Totals(
            brokers=len(brokers),
            brokers_up=sum(broker.up for broker in brokers),
            topics=int(shown.sum()),
            partitions=int(topics.partitions[shown].sum()),
            under_replicated=int(topics.under_replicated[shown].sum()),
            offline=int(topics.offline[shown].sum()),
            groups=len(facts),
            groups_by_state={
                row["values"] or "": row["counts"] for row in states.value_counts().to_pylist()
            },
            groups_silent=len(facts) - len(states),
            disk_bytes=topics.disk.total(shown),
            messages_rate=topics.messages_rate.total(shown),
            bytes_in_rate=_total(broker.bytes_in_rate for broker in brokers),
            bytes_out_rate=_total(broker.bytes_out_rate for broker in brokers),
            lag=self._lag,
        )

    @property
    def _lag(self) -> PartialSum:
        """Of every group."""
        sums = self._group_sums
        whole = sums.by(np.zeros(len(sums.lag), dtype=np.int64), 1)
        return replace(whole[0], has_unseen_parts=not self.tick.groups_complete)


def _topics_shown(topics: Names, scope: Scope) -> np.ndarray:
    """Of each topic whether it is in the scope."""
    shown = topics.matching(scope.topics)
    shown[[topics.code_of[name] for name in scope.hidden_topics if name in topics.code_of]] = False
    return shown


def _made(row: type[Row], columns: dict[str, list[Any]]) -> list[Row]:
    """The rows of such columns, of which there may be more than the row type has."""
    wanted = (columns[name] for name in row.__slots__)  # type: ignore[attr-defined]
    return list(map(row, *wanted))


def _by_id(ids: np.ndarray) -> dict[int, int]:
    found, n = np.unique(ids[ids >= 0], return_counts=True)
    return dict(zip(found.tolist(), n.tolist(), strict=True))


def _total(values: Iterable[float | None]) -> PartialSum:
    """The sum of the brokers' known values."""
    told = list(values)
    known = [value for value in told if value is not None]
    value = float(sum(known)) if known else None
    return PartialSum(value, len(told) - len(known), len(told), "brokers")
