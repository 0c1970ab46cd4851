"""One tick as rows for pages: totals, brokers, topics, groups. Pure.

It makes the rows from the tick's columns (tick_columns.py), on demand: the row of one topic or
group needs no other rows. A snapshot has one scope; its sums leave out topics and groups outside of
it. The values of a broker cover all its topics. Threads share a snapshot without a lock: if two
compute the same property, the results are equal. (Django's cached_property takes no lock; that of
Python 3.11 has one lock for all instances.)
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from django.utils.functional import cached_property

from monitoring.lag.read_state import ReadState
from monitoring.read_model import name_search
from monitoring.read_model.columns import Names, integer, number
from monitoring.read_model.group_columns import LagSums
from monitoring.read_model.lag_rows import LagRows
from monitoring.read_model.partial_sum import PartialSum
from monitoring.read_model.placement import Placement
from monitoring.read_model.rows import (
    BrokerRow,
    GroupOnTopicRow,
    GroupRow,
    LagRow,
    LastRecord,
    LogDirRow,
    PartitionRow,
    TopicOfGroupRow,
    TopicReaders,
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
    def of(cls, tick: Tick, previous: Tick | None = None, scope: Scope = EVERYTHING) -> "Snapshot":
        """The snapshot of a tick, with growth since the tick `previous`."""
        previous_columns = TickColumns.of(previous) if previous else None
        return cls(TickColumns.of(tick, previous_columns), scope)

    @property
    def tick(self) -> Tick:
        return self.columns.tick

    @property
    def at_ms(self) -> int:
        return self.tick.at_ms

    @cached_property
    def shows_all(self) -> bool:
        """Whether nothing of the tick is outside the scope."""
        return bool(self._topic_mask.all() and self._pair_mask.all())

    @cached_property
    def _topic_mask(self) -> np.ndarray:
        """For each topic: whether it exists and is in the scope."""
        shown = _topics_in_scope(self.columns.partitions.topics, self.scope)
        return shown & (self.columns.topics.partitions > 0)

    @cached_property
    def _pair_mask(self) -> np.ndarray:
        """For each pair of a group and a topic: whether both are in the scope."""
        groups = self.columns.groups
        group = groups.groups.matching(self.scope.groups)
        topic = _topics_in_scope(groups.topics, self.scope)
        shown: np.ndarray = group[groups.group] & np.append(topic, True)[groups.topic]
        return shown

    @cached_property
    def _partition_mask(self) -> np.ndarray:
        shown: np.ndarray = self._topic_mask[self.columns.partitions.topic]
        return shown

    # Topics and their partitions.

    @cached_property
    def topics(self) -> list[TopicRow]:
        """One row per topic, sorted by name."""
        order = self.columns.partitions.topics.order
        return self._topic_rows(order[self._topic_mask[order]])

    def find_topics(self, text: str, count_max: int) -> tuple[list[TopicRow], int]:
        """The first topics whose names contain the text, and the number of all of them."""
        columns = self.columns.topics
        in_trouble = (columns.offline > 0) | (columns.under_replicated > 0)
        names = self.columns.partitions.topics
        found = name_search.find(names, self._topic_mask, in_trouble, text, count_max)
        return self._topic_rows(found.codes), found.count

    def topic(self, name: str) -> TopicRow | None:
        code = self._topic_code(name)
        return None if code is None else self._topic_rows(np.array([code]))[0]

    def has_topic(self, name: str) -> bool:
        return self._topic_code(name) is not None

    def busiest_topics(self, count: int) -> list[TopicRow]:
        """The topics with the highest message rates; topics with equal rates by name."""
        rates = np.nan_to_num(self.columns.topics.messages_rate.values)
        return self._first_topics(self._topic_mask, -rates, count)

    def largest_topics(self, count: int) -> list[TopicRow]:
        """The topics with the most bytes on all brokers' disks, as far as known."""
        sizes = np.nan_to_num(self.columns.topics.disk.values, nan=-1)
        return self._first_topics(self._topic_mask, -sizes, count)

    def topics_idle_longest(self, count: int) -> list[TopicRow]:
        """Topics whose last record is the oldest; without internal ones and those that are empty
        or written to now."""
        columns = self.columns.topics
        is_known = ~np.isnan(columns.last_record_ms) & ~columns.has_newer_records
        is_written = columns.messages_rate.values > 0
        is_chosen = self._public_mask & is_known & ~is_written
        return self._first_topics(is_chosen, columns.last_record_ms, count)

    def _first_topics(
        self, is_chosen: np.ndarray, values: np.ndarray, count: int
    ) -> list[TopicRow]:
        """The chosen topics with the smallest values; those with equal values by name."""
        order = self.columns.partitions.topics.order
        codes = order[is_chosen[order]]
        return self._topic_rows(codes[np.argsort(values[codes], kind="stable")[:count]])

    @cached_property
    def _public_mask(self) -> np.ndarray:
        """Topics in the scope that are not internal."""
        is_internal = self.columns.partitions.topics.matching(("__*",))
        shown: np.ndarray = self._topic_mask & ~is_internal
        return shown

    def partitions(self, topic: str) -> list[PartitionRow]:
        """The partitions of a topic, by number; empty if the topic does not exist."""
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
                log_start_offset=integer(p.start[row]),
                log_end_offset=integer(p.end[row]),
                size_bytes=integer(p.size[row]),
                messages_rate=number(growth["end"][row]),
                bytes_in_rate=number(growth["bytes_in"][row]),
                last_record=LastRecord(
                    integer(p.last_record_ms[row]), not p.has_newer_records[row]
                ),
            )
            for i, row in enumerate(rows.tolist())
        ]

    def _topic_code(self, name: str) -> int | None:
        code = self.columns.partitions.topics.code_of.get(name)
        return code if code is not None and self._topic_mask[code] else None

    def _topic_rows(self, codes: np.ndarray) -> list[TopicRow]:
        columns, names = self.columns.topics, self.columns.topics.names
        group_counts = zip(codes.tolist(), self._group_counts[codes].tolist(), strict=True)
        return [TopicRow(names[code], count, columns, self, code) for code, count in group_counts]

    @cached_property
    def placement(self) -> Placement:
        """How evenly each topic lies on the brokers."""
        return Placement.of(self.columns.partitions, len(self.tick.brokers))

    @cached_property
    def topic_readers(self) -> TopicReaders:
        """Per topic: the worst state of a partition that a group reads, and the largest lag of a
        group."""
        n, pairs = len(self.columns.topics.names), self.columns.topic_of_pair
        commits, sums = self.columns.commits, self.columns.groups.sums
        rows = np.flatnonzero(self._row_mask & (pairs[commits.rows.pair] >= 0))
        read_state = np.full(n, -1)
        np.maximum.at(read_state, pairs[commits.rows.pair[rows]], commits.read_states[rows])
        shown = np.flatnonzero(self._pair_mask & (pairs >= 0) & (sums.known > 0))
        lag = np.full(n, np.nan)
        np.fmax.at(lag, pairs[shown], sums.lag[shown].astype(float))
        return TopicReaders(read_state, lag)

    @cached_property
    def _group_counts(self) -> np.ndarray:
        """For each topic: the number of groups with a commit or an assigned partition."""
        codes = self.columns.topic_of_pair[self._pair_mask]
        return np.bincount(codes[codes >= 0], minlength=len(self.columns.topics.names))

    # Groups and their lag.

    @cached_property
    def _group_sums(self) -> LagSums:
        groups = self.columns.groups
        return groups.sums.by(groups.group, len(groups.groups.all), self._pair_mask)

    @cached_property
    def _topic_counts(self) -> np.ndarray:
        """For each group: the number of topics that it reads."""
        groups = self.columns.groups
        read = groups.group[self._pair_mask & (groups.topic >= 0)]
        return np.bincount(read, minlength=len(groups.groups.all))

    @cached_property
    def _group_mask(self) -> np.ndarray:
        groups = self.columns.groups
        shown = np.zeros(len(groups.groups.all), dtype=bool)
        shown[groups.group[self._pair_mask]] = True
        return shown

    @cached_property
    def _group_codes(self) -> np.ndarray:
        order = self.columns.groups.groups.order
        shown: np.ndarray = order[self._group_mask[order]]
        return shown

    @cached_property
    def groups(self) -> list[GroupRow]:
        """One row per group, sorted by name."""
        return self._group_rows(self._group_codes)

    @property
    def group_names(self) -> list[str]:
        names = self.columns.groups.groups.all
        return [names[code] for code in self._group_codes.tolist()]

    def find_groups(self, text: str, count_max: int) -> tuple[list[GroupRow], int]:
        """The first groups whose names contain the text, and the number of all of them."""
        in_trouble = self._state_counts[:, ReadState.GROWING :].sum(axis=1) > 0
        names = self.columns.groups.groups
        found = name_search.find(names, self._group_mask, in_trouble, text, count_max)
        return self._group_rows(found.codes), found.count

    def group(self, name: str) -> GroupRow | None:
        return self.groups_named([name]).get(name)

    def groups_named(self, names: Iterable[str]) -> dict[str, GroupRow]:
        """The rows of these groups by name; unknown names are left out."""
        codes = [code for name in names if (code := self._group_code(name)) is not None]
        return {row.name: row for row in self._group_rows(np.array(codes, dtype=np.int64))}

    def groups_most_behind(self, count: int) -> list[GroupRow]:
        """The groups with the most lag; groups with unknown lag come last."""
        sums, codes = self._group_sums, self._group_codes
        lag = np.where(sums.known[codes] > 0, sums.lag[codes], -1)
        order = np.lexsort((-sums.ahead_by[codes], -lag))
        return self._group_rows(codes[order[:count]])

    def has_group(self, name: str) -> bool:
        return self._group_code(name) is not None

    @property
    def group_read_states(self) -> dict[ReadState, int]:
        """The number of groups by the state of their worst partition, the worst first."""
        has_state = self._state_counts[self._group_codes] > 0
        worst = has_state.shape[1] - 1 - np.argmax(has_state[:, ::-1], axis=1)
        worst[~has_state.any(axis=1)] = ReadState.UNKNOWN
        counts = np.bincount(worst, minlength=len(ReadState)).tolist()
        return {
            read_state: counts[read_state]
            for read_state in reversed(ReadState)
            if counts[read_state]
        }

    def group_on_topic(self, group: str, topic: str) -> GroupOnTopicRow | None:
        """One group on one topic."""
        pairs = self._pairs_of_group(group)
        code = self.columns.groups.topics.code_of.get(topic, -2)
        rows = self._group_on_topic_rows(pairs[self.columns.groups.topic[pairs] == code])
        return rows[0] if rows else None

    def readers(self, topic: str) -> list[GroupOnTopicRow]:
        """The groups that read a topic, by name, with their lag on it."""
        pairs = self._pairs_of_topic(topic)
        groups = self.columns.groups
        return self._group_on_topic_rows(pairs[np.argsort(groups.groups.rank[groups.group[pairs]])])

    def topics_of_group(self, group: str, count_max: int) -> list[TopicOfGroupRow]:
        """The first `count_max` topics that a group reads, by name."""
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

    def rows_of_group(self, group: str) -> pa.Table:
        """The rows of one group in the tick's table, one per partition that it reads."""
        groups, pairs = self.columns.groups, self._pairs_of_group(group)
        return groups.table.take(pa.array(groups.rows(pairs[groups.topic[pairs] >= 0])))

    def lags(
        self, *, group: str | None = None, topic: str | None = None, count_max: int | None = None
    ) -> list[LagRow]:
        """The partitions of a group, or of all groups on a topic; at most `count_max` rows."""
        groups = self.columns.groups
        pairs = self._pairs_of_topic(topic or "") if group is None else self._pairs_of_group(group)
        pairs = pairs[groups.topic[pairs] >= 0]
        rows = groups.rows(pairs)
        row_counts = groups.starts[pairs + 1] - groups.starts[pairs]
        keys = (
            np.repeat(groups.groups.rank[groups.group[pairs]], row_counts),
            groups.table["partition"].take(pa.array(rows)).to_numpy(),
            np.repeat(groups.topics.rank[groups.topic[pairs]], row_counts),
        )
        first = rows[np.lexsort(keys)[:count_max]]
        return LagRows(self.columns, first)[:]

    def lag_rows(self, group: str) -> LagRows:
        """The partitions of a group, by topic and number."""
        groups, pairs = self.columns.groups, self._pairs_of_group(group)
        rows = groups.rows(pairs[groups.topic[pairs] >= 0])
        found = self.columns.commits.rows
        order = np.lexsort((found.partition[rows], groups.topics.rank[found.topic[rows]]))
        return LagRows(self.columns, rows[order])

    def _group_code(self, name: str) -> int | None:
        code = self.columns.groups.groups.code_of.get(name)
        return code if code is not None and self._group_mask[code] else None

    def _pairs_of_group(self, name: str) -> np.ndarray:
        code = self._group_code(name)
        if code is None:
            return np.empty(0, dtype=np.int64)
        pairs = self.columns.groups.pairs_of_group(code)
        shown: np.ndarray = pairs[self._pair_mask[pairs]]
        return shown

    def _pairs_of_topic(self, name: str) -> np.ndarray:
        groups = self.columns.groups
        code = groups.topics.code_of.get(name, -2)
        return np.flatnonzero((groups.topic == code) & self._pair_mask)

    def _group_rows(self, codes: np.ndarray) -> list[GroupRow]:
        groups = self.columns.groups
        columns = {
            **groups.facts.take(pa.array(codes)).to_pydict(),
            **self._group_sums.take(codes).lists(),
            "group": [groups.groups.all[code] for code in codes.tolist()],
            "topics": self._topic_counts[codes].tolist(),
            **self._state_columns(codes),
        }
        return _rows(GroupRow, columns)

    def _state_columns(self, codes: np.ndarray) -> dict[str, list[Any]]:
        """The state of each group, and its rates."""
        counts = self._state_counts[codes]
        read_states = [
            tuple(
                (read_state, row[read_state])
                for read_state in reversed(ReadState)
                if row[read_state]
            )
            for row in counts.tolist()
        ]
        rates = {name: sums[codes].tolist() for name, sums in self._group_rates.items()}
        return {
            "read_state": [row[0][0] if row else ReadState.UNKNOWN for row in read_states],
            "read_states": read_states,
            "unread": list(map(integer, self._unread[codes])),
            "consumed_rate": list(map(number, rates["consumed"])),
            "produced_rate": list(map(number, rates["produced"])),
        }

    @cached_property
    def _state_counts(self) -> np.ndarray:
        """Per group and ReadState: the number of partitions."""
        return self.columns.commits.counts(len(self.columns.groups.groups.all), self._pair_mask)

    @cached_property
    def _group_rates(self) -> dict[str, np.ndarray]:
        """Per group: the sums of its partitions' rates that are known; NaN if none is."""
        commits = self.columns.commits
        rates = commits.rates
        known = ~np.isnan(rates["consumed"]) & ~np.isnan(rates["produced"])
        rows = np.flatnonzero(known & (commits.rows.topic >= 0) & self._row_mask)
        groups, n = commits.rows.group[rows], len(self.columns.groups.groups.all)
        is_known = np.bincount(groups, minlength=n) > 0
        return {
            name: np.where(is_known, np.bincount(groups, values[rows], minlength=n), np.nan)
            for name, values in rates.items()
        }

    @cached_property
    def _unread(self) -> np.ndarray:
        """Per group: the records in partitions without a commit; NaN if one is unknown."""
        commits = self.columns.commits
        wanted = ~commits.is_committed & (commits.rows.topic >= 0) & self._row_mask
        rows = np.flatnonzero(wanted)
        n = len(self.columns.groups.groups.all)
        return np.bincount(commits.rows.group[rows], self.columns.records(rows), minlength=n)

    @cached_property
    def _row_mask(self) -> np.ndarray:
        """For each row of the group table: whether it is in the scope."""
        shown: np.ndarray = self._pair_mask[self.columns.commits.rows.pair]
        return shown

    def _group_on_topic_rows(self, pairs: np.ndarray) -> list[GroupOnTopicRow]:
        groups = self.columns.groups
        codes = groups.group[pairs]
        columns = {
            **groups.facts.take(pa.array(codes)).to_pydict(),
            **groups.sums.take(pairs).lists(),
            "group": [groups.groups.all[code] for code in codes.tolist()],
            "read_state": [ReadState(code) for code in self._pair_states[pairs].tolist()],
        }
        return _rows(GroupOnTopicRow, columns)

    @cached_property
    def _pair_states(self) -> np.ndarray:
        """For each pair: the worst ReadState of its partitions."""
        commits = self.columns.commits
        worst = np.full(len(self._pair_mask), int(ReadState.CAUGHT_UP))
        np.maximum.at(worst, commits.rows.pair, commits.read_states)
        return worst

    # Brokers and the cluster as a whole.

    @cached_property
    def brokers(self) -> list[BrokerRow]:
        """One row per broker, by id."""
        p = self.columns.partitions
        leader_counts = _count_by_id(p.leader[self._partition_mask])
        replicas, rows = p.replicas()
        replica_counts = _count_by_id(replicas[self._partition_mask[rows]])
        return [
            self._broker_row(
                broker, leader_counts.get(broker["id"], 0), replica_counts.get(broker["id"], 0)
            )
            for broker in sorted(self.tick.brokers, key=lambda broker: broker["id"])
        ]

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
            connections=broker.get("connections"),
            rss_bytes=broker.get("rss_bytes"),
            cpu_cores=growth["cpu_seconds"],
            disk_total_bytes=broker.get("disk_total_bytes"),
            disk_free_bytes=broker.get("disk_free_bytes"),
            log_dirs=tuple(LogDirRow(**each) for each in broker.get("log_dirs") or []),
            size_bytes=broker.get("size_bytes"),
            down_since_ms=broker.get("down_since_ms"),
        )

    @cached_property
    def totals(self) -> Totals:
        """The cluster's totals, computed from the columns without making rows."""
        topics, shown, brokers = self.columns.topics, self._topic_mask, self.brokers
        facts = self.columns.groups.facts.take(pa.array(self._group_codes))
        answered = facts["reported_at_ms"].null_count
        rates = topics.messages_rate.values[self._public_mask]
        return Totals(
            brokers=len(brokers),
            brokers_up=sum(broker.up for broker in brokers),
            topics=int(shown.sum()),
            partitions=int(topics.partitions[shown].sum()),
            under_replicated=int(topics.under_replicated[shown].sum()),
            offline=int(topics.offline[shown].sum()),
            groups=len(facts),
            groups_silent=len(facts) - answered,
            topics_active=int((rates > 0).sum()),
            topics_idle=int((rates == 0).sum()),
            disk_bytes=topics.disk.total(shown),
            disk_free_bytes=_total(broker.disk_free_bytes for broker in brokers),
            disk_total_bytes=_total(broker.disk_total_bytes for broker in brokers),
            messages_rate=topics.messages_rate.total(shown),
            bytes_in_rate=_total(broker.bytes_in_rate for broker in brokers),
            bytes_out_rate=_total(broker.bytes_out_rate for broker in brokers),
            lag=self._lag,
        )

    @property
    def _lag(self) -> PartialSum:
        """The total lag of all groups."""
        sums = self._group_sums
        total = sums.by(np.zeros(len(sums.lag), dtype=np.int64), 1)
        return replace(total[0], has_unseen_parts=not self.tick.groups_complete)


def _topics_in_scope(topics: Names, scope: Scope) -> np.ndarray:
    """For each topic: whether it is in the scope."""
    shown = topics.matching(scope.topics)
    shown[[topics.code_of[name] for name in scope.hidden_topics if name in topics.code_of]] = False
    return shown


def _rows(row: type[Row], columns: dict[str, list[Any]]) -> list[Row]:
    """Rows of type `row` from columns; columns that the type does not have are ignored."""
    used = (columns[name] for name in row.__slots__)  # type: ignore[attr-defined]
    return list(map(row, *used))


def _count_by_id(ids: np.ndarray) -> dict[int, int]:
    unique, counts = np.unique(ids[ids >= 0], return_counts=True)
    return dict(zip(unique.tolist(), counts.tolist(), strict=True))


def _total(values: Iterable[float | None]) -> PartialSum:
    """The sum of the brokers' known values."""
    all_values = list(values)
    known = [value for value in all_values if value is not None]
    value = float(sum(known)) if known else None
    return PartialSum(value, len(all_values) - len(known), len(all_values), "brokers")
