"""The times of the last records: which are read in a tick, which are as in the previous tick. Pure.

A time is read again only if the end offset changed since the previous tick, so that an idle cluster
costs nothing. At most READ_MAX partitions are read in a tick, those with the oldest times first.
For the others `has_newer` is true: there are records after the one whose time is known.
docs/decisions/0011-last-records.md has the reasons.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from monitoring.gateway.wire.answers import ClusterAnswers
from monitoring.gateway.wire.last_records import NO_RECORD
from monitoring.gateway.wire.list_offsets import UNKNOWN
from monitoring.gateway.wire.metadata import Longs, Metadata
from monitoring.ticks.tick import Tick

READ_MAX = 1000
_UNKNOWN_ID, _NEW_ID = -1, -2  # in place of the code of a topic id

Flags = npt.NDArray[np.bool_]


@dataclass(slots=True)
class LastRecords:
    """The times by row of the metadata, and whether there are or may be newer records."""

    times_ms: Longs
    has_newer: Flags
    _is_readable: Flags  # there are records, and a leader to ask

    @classmethod
    def of(cls, previous: Tick | None, answers: ClusterAnswers) -> "LastRecords":
        """What is known from the previous tick, with the offsets of this one."""
        if previous is not None and previous.cluster_id != answers.metadata.cluster_id:
            previous = None  # another cluster has this address now
        times_ms, last_end, has_newer = _previous_values(previous, answers.metadata)
        start, end = answers.log_start, answers.log_end
        went_back = (end >= 0) & (end < last_end)
        times_ms[went_back] = UNKNOWN  # the topic was created again, or its log was cut
        is_empty = (end >= 0) & (end == np.maximum(start, 0))
        times_ms[is_empty] = UNKNOWN
        has_newer = (has_newer | (end != last_end) | (end < 0)) & ~is_empty
        return cls(times_ms, has_newer, (end >= 0) & ~is_empty)

    def rows_to_read(self) -> Longs:
        """The rows whose times are read in this tick, sorted; at most READ_MAX."""
        rows = np.flatnonzero(self.has_newer & self._is_readable)
        oldest_first = np.argsort(self.times_ms[rows], kind="stable")
        return np.sort(rows[oldest_first[:READ_MAX]])

    def add(self, read_ms: Longs) -> None:
        """Add what was read: a time, NO_RECORD or UNKNOWN for each row.

        NO_RECORD for a row whose time is known changes nothing: its last record is not replicated
        yet.
        """
        has_time = read_ms >= 0
        self.times_ms[has_time] = read_ms[has_time]
        has_no_record = (read_ms == NO_RECORD) & (self.times_ms < 0)
        self.has_newer &= ~(has_time | has_no_record)


def _previous_values(previous: Tick | None, metadata: Metadata) -> tuple[Longs, Longs, Flags]:
    """Times, end offsets and `has_newer` of the previous tick, by row of the metadata."""
    count = metadata.row_count
    times_ms = np.full(count, UNKNOWN, dtype=np.int64)
    ends, has_newer = times_ms.copy(), np.ones(count, dtype=bool)
    if previous is None or not len(previous.partitions):
        return times_ms, ends, has_newer
    table = previous.partitions
    rows, exists = _rows_of(table, metadata)
    rows = rows[exists]
    for column, target in (("last_record_ms", times_ms), ("log_end_offset", ends)):
        target[rows] = pc.fill_null(table[column], UNKNOWN).to_numpy()[exists]
    has_newer[rows] = pc.fill_null(table["has_newer_records"], True).to_numpy()[exists]
    return times_ms, ends, has_newer


def _rows_of(table: pa.Table, metadata: Metadata) -> tuple[Longs, Flags]:
    """For each row of the previous tick: its row now, and whether it still exists."""
    (code, topics), (id_code, topic_ids) = _codes(table, "topic"), _codes(table, "topic_id")
    partition = table["partition"].to_numpy().astype(np.int64)
    if (
        topics.equals(pa.array(metadata.topics, pa.string()))
        and topic_ids.equals(pa.array(metadata.topic_ids, pa.string()))
        and np.array_equal(code, metadata.topic_of_row())
        and np.array_equal(partition, metadata.partition_of_row())
    ):
        # In most ticks nothing moved. The code below takes ten times as long.
        return np.arange(len(table)), np.ones(len(table), dtype=bool)
    names, ids = topics.to_pylist(), topic_ids.to_pylist()
    topic_rows = [metadata.rows_by_topic.get(name, range(0)) for name in names]
    start = np.array([rows.start for rows in topic_rows], dtype=np.int64)[code]
    count = np.array([len(rows) for rows in topic_rows], dtype=np.int64)[code]
    current_ids = dict(zip(metadata.topics, metadata.topic_ids, strict=True))
    code_of_id = {topic_id: number for number, topic_id in enumerate(ids)}
    current_id_code = np.array([_id_code(current_ids.get(n, ""), code_of_id) for n in names])[code]
    is_unknown = (id_code < 0) | (current_id_code == _UNKNOWN_ID)
    is_same = is_unknown | (id_code == current_id_code)
    return start + partition, is_same & (partition < count)


def _id_code(topic_id: str, code_of_id: dict[str, int]) -> int:
    """The code that the previous tick has for the id, _UNKNOWN_ID or _NEW_ID."""
    return code_of_id.get(topic_id, _NEW_ID) if topic_id else _UNKNOWN_ID


def _codes(table: pa.Table, name: str) -> tuple[Longs, pa.Array]:
    """A dictionary column as codes (null: −1) and values."""
    column = table[name].combine_chunks()
    codes = pc.fill_null(column.indices, -1).to_numpy(zero_copy_only=False)
    return codes.astype(np.int64), column.dictionary
