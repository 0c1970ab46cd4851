"""One tick as rows for pages: totals, brokers, topics, groups. Pure.

It makes the rows from the tick's columns (tick_columns.py), on demand: the row of one topic or
group needs no other rows. A snapshot has one scope; its sums leave out topics and groups outside of
it. The values of a broker cover all its topics. Threads share a snapshot without a lock: if two
compute the same property, the results are equal. (Django's cached_property takes no lock; that of
Python 3.11 has one lock for all instances.)
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from django.utils.functional import cached_property

from monitoring.lag.lag_state import LagState
from monitoring.partial_sum import PartialSum
from monitoring.read_model import name_search
from monitoring.read_model.broker_rows import broker_rows
from monitoring.read_model.group_rows import GroupRows
from monitoring.read_model.lag_rows import LagRows
from monitoring.read_model.name_search import SearchWords
from monitoring.read_model.numpy_columns import float_or_none, int_or_none
from monitoring.read_model.placement import Placement
from monitoring.read_model.row_types import (
    BrokerRow,
    GroupOnTopicRow,
    GroupRow,
    LagRow,
    LastRecord,
    PartitionRow,
    TopicOfGroupRow,
    TopicReaders,
    TopicRow,
    Totals,
)
from monitoring.read_model.scope_masks import ScopeMasks
from monitoring.read_model.tick_columns import TickColumns
from monitoring.scope import EVERYTHING, Scope
from monitoring.ticks.tick import Tick

_NO_CODE = -2  # of an unknown topic; −1 stands for a group without topics


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
        return bool(self.masks.topics.all() and self.masks.pairs.all())

    @cached_property
    def masks(self) -> ScopeMasks:
        """Which parts of the tick are in the scope."""
        return ScopeMasks(self.columns, self.scope)

    # Topics and their partitions.

    @cached_property
    def topics(self) -> list[TopicRow]:
        """One row per topic, sorted by name."""
        order = self.columns.partitions.topic_names.order
        return self._topic_rows(order[self.masks.topics[order]])

    def find_topics(self, search: SearchWords, count_max: int) -> tuple[list[TopicRow], int]:
        """The first topics whose names match, and the number of all of them."""
        columns = self.columns.topics
        in_trouble = (columns.offline > 0) | (columns.under_replicated > 0)
        names = self.columns.partitions.topic_names
        found = name_search.find(names, self.masks.topics, in_trouble, search, count_max)
        return self._topic_rows(found.codes), found.count

    def topic(self, name: str) -> TopicRow | None:
        code = self._topic_code(name)
        return None if code is None else self._topic_rows(np.array([code]))[0]

    def has_topic(self, name: str) -> bool:
        return self._topic_code(name) is not None

    def busiest_topics(self, count: int) -> list[TopicRow]:
        """The topics with the highest message rates; topics with equal rates by name."""
        rates = np.nan_to_num(self.columns.topics.messages_rate.values)
        return self._first_topics(self.masks.topics, -rates, count)

    def largest_topics(self, count: int) -> list[TopicRow]:
        """The topics with the most bytes on all brokers' disks, as far as known."""
        sizes = np.nan_to_num(self.columns.topics.disk.values, nan=-1)
        return self._first_topics(self.masks.topics, -sizes, count)

    def topics_idle_longest(self, count: int) -> list[TopicRow]:
        """Topics whose last record is the oldest; without internal ones and those that are empty
        or written to now."""
        columns = self.columns.topics
        is_known = ~np.isnan(columns.last_record_ms) & ~columns.has_newer_records
        is_written = columns.messages_rate.values > 0
        is_chosen = self.masks.non_internal_topics & is_known & ~is_written
        return self._first_topics(is_chosen, columns.last_record_ms, count)

    def _first_topics(
        self, is_chosen: np.ndarray, values: np.ndarray, count: int
    ) -> list[TopicRow]:
        """The chosen topics with the smallest values; those with equal values by name."""
        order = self.columns.partitions.topic_names.order
        codes = order[is_chosen[order]]
        return self._topic_rows(codes[np.argsort(values[codes], kind="stable")[:count]])

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
                log_start_offset=int_or_none(p.start[row]),
                log_end_offset=int_or_none(p.end[row]),
                size_bytes=int_or_none(p.size[row]),
                messages_rate=float_or_none(growth["end"][row]),
                bytes_in_rate=float_or_none(growth["bytes_in"][row]),
                last_record=LastRecord(
                    int_or_none(p.last_record_ms[row]), not p.has_newer_records[row]
                ),
            )
            for i, row in enumerate(rows.tolist())
        ]

    def _topic_code(self, name: str) -> int | None:
        code = self.columns.partitions.topic_names.code_of.get(name)
        return code if code is not None and self.masks.topics[code] else None

    def _topic_rows(self, codes: np.ndarray) -> list[TopicRow]:
        columns, names = self.columns.topics, self.columns.topics.names
        group_counts = zip(codes.tolist(), self._group_counts[codes].tolist(), strict=True)
        return [TopicRow(names[code], count, columns, self, code) for code, count in group_counts]

    @property
    def can_move_replicas(self) -> bool:
        """Whether the brokers can move replicas to others; brokerd cannot yet."""
        return all(broker.source != "brokerd" for broker in self.brokers)

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
        rows = np.flatnonzero(self.masks.rows & (pairs[commits.rows.pair] >= 0))
        lag_state = np.full(n, -1)
        np.maximum.at(lag_state, pairs[commits.rows.pair[rows]], commits.lag_states[rows])
        shown = np.flatnonzero(self.masks.pairs & (pairs >= 0) & (sums.known > 0))
        lag = np.full(n, np.nan)
        np.fmax.at(lag, pairs[shown], sums.lag[shown].astype(float))
        return TopicReaders(lag_state, lag)

    @cached_property
    def _group_counts(self) -> np.ndarray:
        """For each topic: the number of groups with a commit or an assigned partition."""
        codes = self.columns.topic_of_pair[self.masks.pairs]
        return np.bincount(codes[codes >= 0], minlength=len(self.columns.topics.names))

    # Groups and their lag.

    @cached_property
    def _group_rows(self) -> GroupRows:
        return GroupRows(self.masks)

    @cached_property
    def groups(self) -> list[GroupRow]:
        """One row per group, sorted by name."""
        return self._group_rows.of_groups(self.masks.group_codes)

    @property
    def group_names(self) -> list[str]:
        names = self.columns.groups.group_names.all
        return [names[code] for code in self.masks.group_codes.tolist()]

    def find_groups(self, search: SearchWords, count_max: int) -> tuple[list[GroupRow], int]:
        """The first groups whose names match, and the number of all of them."""
        in_trouble = self._group_rows.state_counts[:, LagState.GROWING :].sum(axis=1) > 0
        names = self.columns.groups.group_names
        found = name_search.find(names, self.masks.groups, in_trouble, search, count_max)
        return self._group_rows.of_groups(found.codes), found.count

    def group(self, name: str) -> GroupRow | None:
        return self.groups_named([name]).get(name)

    def groups_named(self, names: Iterable[str]) -> dict[str, GroupRow]:
        """The rows of these groups by name; unknown names are left out."""
        codes = [code for name in names if (code := self._group_code(name)) is not None]
        return {
            row.name: row for row in self._group_rows.of_groups(np.array(codes, dtype=np.int64))
        }

    def groups_most_behind(self, count: int) -> list[GroupRow]:
        """The groups with the most lag; groups with unknown lag come last."""
        sums, codes = self._group_rows.sums, self.masks.group_codes
        lag = np.where(sums.known[codes] > 0, sums.lag[codes], -1)
        order = np.lexsort((-sums.ahead_by[codes], -lag))
        return self._group_rows.of_groups(codes[order[:count]])

    def has_group(self, name: str) -> bool:
        return self._group_code(name) is not None

    @property
    def group_lag_states(self) -> dict[LagState, int]:
        """The number of groups by the state of their worst partition, the worst first."""
        has_state = self._group_rows.state_counts[self.masks.group_codes] > 0
        worst = has_state.shape[1] - 1 - np.argmax(has_state[:, ::-1], axis=1)
        worst[~has_state.any(axis=1)] = LagState.UNKNOWN
        counts = np.bincount(worst, minlength=len(LagState)).tolist()
        return {
            lag_state: counts[lag_state] for lag_state in reversed(LagState) if counts[lag_state]
        }

    def group_on_topic(self, group: str, topic: str) -> GroupOnTopicRow | None:
        """One group on one topic; None = there is no such pair in the tick and the scope."""
        pairs = self._pairs_of_group(group)
        code = self.columns.groups.topic_names.code_of.get(topic, _NO_CODE)
        rows = self._group_rows.of_pairs(pairs[self.columns.groups.topic[pairs] == code])
        return rows[0] if rows else None

    def readers(self, topic: str) -> list[GroupOnTopicRow]:
        """The groups that read a topic, by name, with their lag on it."""
        pairs = self._pairs_of_topic(topic)
        groups = self.columns.groups
        return self._group_rows.of_pairs(
            pairs[np.argsort(groups.group_names.position[groups.group[pairs]])]
        )

    def topics_of_group(self, group: str, count_max: int) -> list[TopicOfGroupRow]:
        """The first `count_max` topics that a group reads, by name."""
        groups, pairs = self.columns.groups, self._pairs_of_group(group)
        pairs = pairs[groups.topic[pairs] >= 0]
        first = pairs[np.argsort(groups.topic_names.position[groups.topic[pairs]])][:count_max]
        return [
            TopicOfGroupRow(groups.topic_names.all[groups.topic[pair]], groups.sums[pair])
            for pair in first.tolist()
        ]

    def hides_topics_of(self, group: str) -> bool:
        """Whether the group reads a topic that is hidden here."""
        code = self.columns.groups.group_names.code_of.get(group)
        if code is None:
            return False
        return len(self._pairs_of_group(group)) < len(self.columns.groups.pairs_of_group(code))

    def rows_of_group(self, group: str) -> pa.Table:
        """The rows of one group in the tick's table, one per partition that it reads."""
        groups, pairs = self.columns.groups, self._pairs_of_group(group)
        return groups.table.take(pa.array(groups.rows(pairs[groups.topic[pairs] >= 0])))

    def commits(self, topic: str, partition: int) -> list[tuple[str, int]]:
        """The groups with a committed offset of a partition, and the offset."""
        groups, pairs = self.columns.groups, self._pairs_of_topic(topic)
        rows = groups.rows(pairs)
        numbers = groups.table["partition"].take(pa.array(rows)).to_numpy()
        return [
            (row.group, row.committed_offset)
            for row in LagRows(self.columns, rows[numbers == partition])[:]
            if row.committed_offset is not None
        ]

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
            np.repeat(groups.group_names.position[groups.group[pairs]], row_counts),
            groups.table["partition"].take(pa.array(rows)).to_numpy(),
            np.repeat(groups.topic_names.position[groups.topic[pairs]], row_counts),
        )
        first = rows[np.lexsort(keys)[:count_max]]
        return LagRows(self.columns, first)[:]

    def lag_rows(self, group: str) -> LagRows:
        """The partitions of a group, by topic and number."""
        groups, pairs = self.columns.groups, self._pairs_of_group(group)
        rows = groups.rows(pairs[groups.topic[pairs] >= 0])
        found = self.columns.commits.rows
        order = np.lexsort((found.partition[rows], groups.topic_names.position[found.topic[rows]]))
        return LagRows(self.columns, rows[order])

    def _group_code(self, name: str) -> int | None:
        code = self.columns.groups.group_names.code_of.get(name)
        return code if code is not None and self.masks.groups[code] else None

    def _pairs_of_group(self, name: str) -> np.ndarray:
        code = self._group_code(name)
        if code is None:
            return np.empty(0, dtype=np.int64)
        pairs = self.columns.groups.pairs_of_group(code)
        shown: np.ndarray = pairs[self.masks.pairs[pairs]]
        return shown

    def _pairs_of_topic(self, name: str) -> np.ndarray:
        groups = self.columns.groups
        code = groups.topic_names.code_of.get(name, _NO_CODE)
        return np.flatnonzero((groups.topic == code) & self.masks.pairs)

    # Brokers and the cluster as a whole.

    @cached_property
    def brokers(self) -> list[BrokerRow]:
        """One row per broker, by id."""
        return broker_rows(self.columns, self.masks.partitions)

    @cached_property
    def totals(self) -> Totals:
        """The cluster's totals, computed from the columns without making rows."""
        topics, shown, brokers = self.columns.topics, self.masks.topics, self.brokers
        facts = self.columns.groups.facts.take(pa.array(self.masks.group_codes))
        answered = facts["reported_at_ms"].null_count
        rates = topics.messages_rate.values[self.masks.non_internal_topics]
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
        sums = self._group_rows.sums
        total = sums.sums_by(np.zeros(len(sums.lag), dtype=np.int64), 1)
        return replace(total[0], has_unseen_parts=not self.tick.groups_complete)


def _total(values: Iterable[float | None]) -> PartialSum:
    """The sum of the brokers' known values."""
    all_values = list(values)
    known = [value for value in all_values if value is not None]
    value = float(sum(known)) if known else None
    return PartialSum(value, len(all_values) - len(known), len(all_values), "brokers")
