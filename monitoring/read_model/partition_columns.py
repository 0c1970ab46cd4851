"""The partitions of one tick as columns, and their sums per topic. Pure."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from monitoring.read_model.numpy_columns import (
    Floats,
    Names,
    RowIndex,
    Sums,
    codes_and_names,
    counts,
    find_keys,
    numbers,
)
from monitoring.ticks.tick import Tick

_PARTITION_BITS = 21  # of a key made of topic code and partition number
COUNTERS = ("end", "bytes_in", "bytes_out")


@dataclass(frozen=True, slots=True)
class PartitionColumns:
    """The partitions of one tick, row by row."""

    table: pa.Table
    at_ms: int
    topic: np.ndarray  # a code of `topic_names`
    topic_names: Names
    by_topic: RowIndex
    partition: np.ndarray
    leader: np.ndarray
    replica_count: np.ndarray
    isr_count: np.ndarray
    start: Floats
    end: Floats
    size: Floats  # of the leader's replica
    replicas_size: Floats  # the sum over the replicas whose size is known
    replicas_known: np.ndarray  # the number of these replicas
    bytes_in: Floats
    bytes_out: Floats
    last_record_ms: Floats
    has_newer_records: np.ndarray

    @classmethod
    def of(cls, tick: Tick, previous: "PartitionColumns | None" = None) -> "PartitionColumns":
        table = tick.partitions
        topic, values = codes_and_names(table["topic"])
        topic_names = Names.of(values, previous.topic_names if previous else None)
        return cls(
            table=table,
            at_ms=tick.at_ms,
            topic=topic,
            topic_names=topic_names,
            by_topic=RowIndex.of(topic, len(topic_names.all)),
            partition=numbers(table, "partition").astype(np.int64),
            leader=np.nan_to_num(numbers(table, "leader"), nan=-1).astype(np.int64),
            replica_count=_lengths(table["replicas"]),
            isr_count=_lengths(table["isr"]),
            start=numbers(table, "log_start_offset"),
            end=numbers(table, "log_end_offset"),
            size=numbers(table, "size_bytes"),
            replicas_size=numbers(table, "replicas_size_bytes"),
            replicas_known=np.nan_to_num(numbers(table, "replicas_reported")).astype(np.int64),
            bytes_in=numbers(table, "bytes_in"),
            bytes_out=numbers(table, "bytes_out"),
            last_record_ms=numbers(table, "last_record_ms"),
            has_newer_records=pc.fill_null(table["has_newer_records"], True).to_numpy(),
        )

    def replicas(self) -> tuple[np.ndarray, np.ndarray]:
        """(broker id, row) of every replica, as two arrays."""
        lists = pc.list_flatten(self.table["replicas"]).combine_chunks()
        brokers: np.ndarray = lists.to_numpy(zero_copy_only=False)
        return brokers.astype(np.int64), np.repeat(np.arange(len(self.topic)), self.replica_count)

    def growth(self, previous: "PartitionColumns | None") -> dict[str, Floats]:
        """The growth of each counter per second since the tick `previous`, row by row.

        NaN if one of the values is unknown, if the partition is new, and if the counter decreased
        (a broker restarted, or a topic was created again).
        """
        if previous is None or previous.at_ms >= self.at_ms or not len(previous.topic):
            return dict.fromkeys(COUNTERS, np.full(len(self.topic), np.nan))
        seconds = (self.at_ms - previous.at_ms) / 1000
        rows, existed = self._rows_in(previous)
        rates = {}
        for name in COUNTERS:
            current = getattr(self, name)
            earlier = np.where(existed, getattr(previous, name)[rows], np.nan)
            rates[name] = np.where(current < earlier, np.nan, current - earlier) / seconds
        return rates

    def _rows_in(self, previous: "PartitionColumns") -> tuple[np.ndarray, np.ndarray]:
        """For each partition its row in `previous`, and whether it has one."""
        if (
            self.topic_names is previous.topic_names
            and np.array_equal(self.topic, previous.topic)
            and np.array_equal(self.partition, previous.partition)
        ):
            return np.arange(len(self.topic)), np.ones(len(self.topic), bool)
        translated = previous.topic_names.codes_in(self.topic_names)
        keys = (translated[previous.topic] << _PARTITION_BITS) + previous.partition
        return find_keys(keys, (self.topic << _PARTITION_BITS) + self.partition)

    def records(self, topic: np.ndarray, partition: np.ndarray) -> Floats:
        """End offset − start offset of these partitions; NaN = unknown."""
        keys = (self.topic << _PARTITION_BITS) + self.partition
        rows, exists = find_keys(keys, (topic << _PARTITION_BITS) + partition)
        counts = (self.end - self.start)[rows] if len(keys) else np.full(len(topic), np.nan)
        return np.where(exists, counts, np.nan)


@dataclass(frozen=True, slots=True)
class TopicColumns:
    """The sums over partitions, per topic."""

    names: list[str]
    partitions: np.ndarray
    replication: np.ndarray
    offset_count: Sums  # end offsets − start offsets: more than the records in compacted topics
    size: Sums  # of the leaders' replicas
    disk: Sums  # of every replica
    messages_rate: Sums
    bytes_in_rate: Sums
    bytes_out_rate: Sums
    under_replicated: np.ndarray
    offline: np.ndarray
    last_record_ms: Floats
    has_newer_records: np.ndarray  # whether a partition has

    @classmethod
    def of(cls, partitions: PartitionColumns, growth: dict[str, Floats]) -> "TopicColumns":
        n = len(partitions.topic_names.all)
        replication = np.zeros(n, dtype=np.int64)
        np.maximum.at(replication, partitions.topic, partitions.replica_count)
        last_record_ms = np.full(n, np.nan)
        np.fmax.at(last_record_ms, partitions.topic, partitions.last_record_ms)
        return cls(
            names=partitions.topic_names.all,
            partitions=counts(np.ones(len(partitions.topic), bool), partitions.topic, n),
            replication=replication,
            offset_count=Sums.by_code(partitions.end - partitions.start, partitions.topic, n),
            size=Sums.by_code(partitions.size, partitions.topic, n),
            disk=_disk(partitions, n),
            messages_rate=Sums.by_code(growth["end"], partitions.topic, n),
            bytes_in_rate=Sums.by_code(growth["bytes_in"], partitions.topic, n),
            bytes_out_rate=Sums.by_code(growth["bytes_out"], partitions.topic, n),
            under_replicated=counts(
                partitions.isr_count < partitions.replica_count, partitions.topic, n
            ),
            offline=counts(partitions.leader < 0, partitions.topic, n),
            last_record_ms=last_record_ms,
            has_newer_records=counts(partitions.has_newer_records, partitions.topic, n) > 0,
        )


def _disk(partitions: PartitionColumns, n: int) -> Sums:
    """The size of all replicas, with replicas as parts of the sums."""
    size = Sums.by_code(partitions.replicas_size, partitions.topic, n).values
    total = np.bincount(partitions.topic, weights=partitions.replica_count, minlength=n).astype(
        np.int64
    )
    known = np.bincount(partitions.topic, weights=partitions.replicas_known, minlength=n).astype(
        np.int64
    )
    return Sums(size, np.maximum(total - known, 0), total, unit="replicas")


def _lengths(lists: pa.ChunkedArray) -> np.ndarray:
    lengths: np.ndarray = pc.fill_null(pc.list_value_length(lists), 0).to_numpy()
    return lengths.astype(np.int64)
