"""The tables of the history: their columns at every level. Pure.

A table is described once (`Table`) and has the same kinds of columns at each level:

- keys: what a row is about, for example topic and partition;
- facts: only the last value that was known (the leader, the end offset);
- gauges: a value that goes up and down (lag, size). A level row has its lowest, highest and last
  value, the sum over the samples in which it was known, and their number;
- counters: what was added since the sample before (records, bytes). A level row has the amount, how
  much of it is *rated* and in how many milliseconds it was added, and the lowest and highest rate
  per second. An amount is rated if the time in which it was added is known: not after a gap.

`raw_schema` and `level_schema` make the columns from it.

Only changes are stored. A bucket (a tick, a minute, an hour, a day) has a row of a key if something
of the key changed in it. A missing row means: facts and gauges as before, nothing added. A row also
has the gauges and the state *before* its bucket (`…_before`, `state_before`), so that a chart that
begins between two rows needs no earlier one. At fixed times
(levels.py) a bucket has a row for each key; the rows that only repeat are marked `repeated`.

`state` has one bit for `EXISTS` and one for each counter (`counter_bit`): whether its value is
known at the end of the bucket. While a counter is known, a sample without a row has the rate 0.

Of groups it has also the bit `UNANSWERED`: the coordinator did not answer, or the end offset of a
partition with a commit was not read. A partition without a commit is answered. So it is not the
same as an unknown lag. A level row has `unanswered_ms`, the rated milliseconds of the samples with
this bit; it is null if the bucket has rows of older files, which do not have the column.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
from django.utils.functional import cached_property

NAME = pa.dictionary(pa.int32(), pa.string())
EXISTS = 1
UNANSWERED = 1 << 30
UNANSWERED_MS = "unanswered_ms"
SUM_MAX = float(2**62)  # larger sums are unknown: below 64 bits by more than a float is inexact
_INT, _LONG = pa.int32(), pa.int64()


@dataclass(frozen=True)
class Table:
    """The description of one table. Gauges and counters are int64."""

    name: str
    keys: dict[str, pa.DataType]
    facts: dict[str, pa.DataType]
    gauges: tuple[str, ...]
    counters: tuple[str, ...]
    has_answers: bool = False  # has UNANSWERED

    @property
    def measures(self) -> tuple[str, ...]:
        """What charts can show."""
        return self.gauges + self.counters + ((UNANSWERED_MS,) if self.has_answers else ())

    @property
    def counter_bits(self) -> int:
        """The bits of all counters."""
        return sum(map(self.counter_bit, self.counters))

    def counter_bit(self, counter: str) -> int:
        """The bit of a counter in `state` and `rated`."""
        return 2 << self.counters.index(counter)

    @cached_property
    def raw_schema(self) -> pa.Schema:
        """A row per key and tick.

        `rated` has the bits of the counters whose amount is a rate of this tick: it was added since
        the tick before, and that tick is not further away than a gap.
        """
        columns = {"at_ms": _LONG} | self.keys | {"repeated": pa.bool_(), "state_before": _INT}
        columns |= {"state": _INT, "rated": _INT} | self.facts
        for gauge in self.gauges:
            columns |= {f"{gauge}_before": _LONG, gauge: _LONG}
        columns |= dict.fromkeys(self.counters, _LONG)
        return pa.schema(list(columns.items()))

    @cached_property
    def level_schema(self) -> pa.Schema:
        """A row per key and bucket; `at_ms` is the bucket's start, `samples` the ticks in which the
        key existed."""
        columns = {"at_ms": _LONG} | self.keys | {"repeated": pa.bool_(), "state_before": _INT}
        columns |= {"state": _INT, "samples": _LONG} | self.facts
        columns |= {UNANSWERED_MS: _LONG} if self.has_answers else {}
        for gauge in self.gauges:
            columns |= dict.fromkeys(gauge_columns(gauge), _LONG)
        for counter in self.counters:
            *whole_numbers, rate_min, rate_max = counter_columns(counter)
            columns |= dict.fromkeys(whole_numbers, _LONG)
            columns |= dict.fromkeys((rate_min, rate_max), pa.float64())
        return pa.schema(list(columns.items()))


def gauge_columns(gauge: str) -> tuple[str, ...]:
    """The level's columns of a gauge."""
    return (
        f"{gauge}_before",
        f"{gauge}_last",
        f"{gauge}_low",
        f"{gauge}_high",
        f"{gauge}_sum",
        f"{gauge}_samples",
    )


def counter_columns(counter: str) -> tuple[str, ...]:
    """The level's columns of a counter: amounts and milliseconds, then rates per second."""
    return (
        counter,
        f"{counter}_rated",
        f"{counter}_rated_ms",
        f"{counter}_low",
        f"{counter}_high",
    )


PARTITIONS = Table(
    name="partitions",
    keys={"topic": NAME, "partition": _INT},
    facts={
        "topic_id": pa.string(),
        "leader": _INT,  # -1 = none
        "replicas": _INT,
        "in_sync": _INT,
        "log_start_offset": _LONG,
        "log_end_offset": _LONG,
    },
    gauges=("size_bytes",),  # of the leader's replica
    counters=("records", "bytes_in", "bytes_out"),
)
TOPICS = Table(
    name="topics",
    keys={"topic": NAME},
    facts={"partitions": _INT, "under_replicated": _INT, "offline": _INT},
    gauges=("size_bytes", "disk_bytes"),  # leaders' replicas; all replicas
    counters=("records", "bytes_in", "bytes_out"),
)
GROUP_PARTITIONS = Table(
    name="group_partitions",
    keys={"group": NAME, "topic": NAME, "partition": _INT},
    facts={"committed_offset": _LONG, "log_end_offset": _LONG},
    gauges=("lag",),
    counters=("consumed",),
    has_answers=True,
)
GROUP_TOPICS = Table(
    name="group_topics",
    keys={"group": NAME, "topic": NAME},
    facts={"partitions": _INT, "not_committed": _INT, "ahead": _INT},
    gauges=("lag",),
    counters=("consumed",),
    has_answers=True,
)
GROUPS = Table(
    name="groups",
    keys={"group": NAME},
    facts={"group_state": pa.string(), "coordinator": _INT, "ahead": _INT, "not_committed": _INT},
    gauges=("lag", "members", "behind"),  # behind: 1 if the lag is above 0
    counters=("consumed",),
    has_answers=True,
)
BROKERS = Table(
    name="brokers",
    keys={"broker": _INT},
    facts={"up": pa.bool_()},
    gauges=(
        "size_bytes",
        "rss_bytes",
        "disk_total_bytes",
        "disk_free_bytes",
        "connections",
        "leaders",
    ),
    counters=("requests", "bytes_in", "bytes_out", "cpu_ms"),
)
LOG_DIRS = Table(
    name="log_dirs",
    keys={"broker": _INT, "log_dir": NAME},
    facts={},
    gauges=("total_bytes", "free_bytes", "size_bytes"),  # the disk; the replicas on it
    counters=(),
)
CLUSTER = Table(
    name="cluster",
    keys={},
    facts={
        "topics": _INT,
        "partitions": _INT,
        "groups": _INT,
        "brokers": _INT,
        "brokers_up": _INT,
        "under_replicated": _INT,
        "offline": _INT,
        "controller": _INT,
    },
    gauges=("lag", "size_bytes", "disk_bytes"),
    counters=("records", "bytes_in", "bytes_out", "consumed"),
)
TABLES = {
    table.name: table
    for table in (
        PARTITIONS,
        TOPICS,
        GROUP_PARTITIONS,
        GROUP_TOPICS,
        GROUPS,
        BROKERS,
        LOG_DIRS,
        CLUSTER,
    )
}
# The values of the key columns of one row: a topic and a partition, a broker, …
RowKey = Mapping[str, str | int]
KEY_COLUMNS = frozenset(name for table in TABLES.values() for name in table.keys)
# Offsets and gauges of raw rows: nearly each row has a value of its own. Without a dictionary of
# Parquet they take less space, and are written and read in less time.
VARIED_COLUMNS = frozenset(
    column
    for table in TABLES.values()
    for column in [
        *(name for name, kind in table.facts.items() if kind == _LONG),
        *(name for gauge in table.gauges for name in (gauge, f"{gauge}_before")),
    ]
)

# The ticks of the raw level, gaps included. `step_ms`: the time since the sample before; null for
# the first sample, for a gap, and for the first sample behind a gap.
RAW_TICKS = pa.schema(
    [
        ("at_ms", _LONG),
        ("tick", _LONG),
        ("interval_ms", _LONG),
        ("status", pa.string()),  # ok or gap
        ("reason", pa.string()),  # of a gap: a code (monitoring/error_reason.py)
        ("took_ms", _LONG),
        ("groups_complete", pa.bool_()),
        ("step_ms", _LONG),
    ]
)
# The buckets of the other levels. `samples`: the ticks with status ok; `rated_ms`: the sum of their
# `step_ms`.
LEVEL_TICKS = pa.schema(
    [
        ("at_ms", _LONG),
        ("samples", _LONG),
        ("gaps", _LONG),
        ("rated_ms", _LONG),
        ("reason", pa.string()),  # of the first gap; empty = none
    ]
)
TICKS = "ticks"


def schema_of(table: str, *, is_raw: bool) -> pa.Schema:
    """The schema of a table's files. Raises KeyError."""
    if table == TICKS:
        return RAW_TICKS if is_raw else LEVEL_TICKS
    return TABLES[table].raw_schema if is_raw else TABLES[table].level_schema
