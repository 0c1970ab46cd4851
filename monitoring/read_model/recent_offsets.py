"""The committed and end offsets of all groups' partitions in the last minutes. Pure.

The offsets of one tick are kept every STEP_MS, so that those of a cluster with 40,000
partitions take a few MB. All arrays have the rows of the newest tick's group table.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc
from django.utils.functional import cached_property

from monitoring.lag import lag_state
from monitoring.read_model.group_columns import GroupColumns
from monitoring.read_model.numpy_columns import find_keys

STEP_MS = 30_000
_PARTITION_BITS = 21  # of a key made of group, topic and partition number


@dataclass(frozen=True, slots=True)
class GroupTableRows:
    """The group, topic and partition of each row of a tick's group table."""

    groups: GroupColumns
    pair: np.ndarray
    group: np.ndarray
    topic: np.ndarray
    partition: np.ndarray

    @classmethod
    def of(cls, groups: GroupColumns) -> "GroupTableRows":
        counts = np.diff(groups.starts)
        pair = np.empty(len(groups.order), dtype=np.int64)
        pair[groups.order] = np.repeat(np.arange(len(counts)), counts)
        partition = pc.fill_null(groups.table["partition"], 0).to_numpy().astype(np.int64)
        return cls(groups, pair, groups.group[pair], groups.topic[pair], partition)

    def has_same_rows(self, other: "GroupTableRows") -> bool:
        return (
            self.groups.group_names is other.groups.group_names
            and self.groups.topic_names is other.groups.topic_names
            and np.array_equal(self.group, other.group)
            and np.array_equal(self.topic, other.topic)
            and np.array_equal(self.partition, other.partition)
        )

    def rows_in(self, other: "GroupTableRows") -> tuple[np.ndarray, np.ndarray]:
        """For each row its number in `other`, and whether it is there."""
        group_names, topic_names = self.groups.group_names, self.groups.topic_names
        # The other table's rows with the codes of this one; the last entry is for code −1.
        group = np.append(other.groups.group_names.codes_in(group_names), -1)[other.group]
        topic = np.append(other.groups.topic_names.codes_in(topic_names), -1)[other.topic]
        size = len(topic_names.all) + 1
        keys = ((group * size + topic + 1) << _PARTITION_BITS) + other.partition
        keys[(group < 0) | (topic < 0)] = -1
        own = ((self.group * size + self.topic + 1) << _PARTITION_BITS) + self.partition
        return find_keys(keys, own)


@dataclass(frozen=True, slots=True)
class _TickOffsets:
    """The offsets of one tick; UNKNOWN_OFFSET = none, or not known."""

    at_ms: int
    committed: np.ndarray
    end: np.ndarray

    def take(self, rows: np.ndarray, exists: np.ndarray) -> "_TickOffsets":
        committed, end = (
            np.where(exists, values[rows], lag_state.UNKNOWN_OFFSET)
            if len(values)
            else np.full(len(rows), lag_state.UNKNOWN_OFFSET)
            for values in (self.committed, self.end)
        )
        return _TickOffsets(self.at_ms, committed, end)


@dataclass(frozen=True, eq=False)
class RecentOffsets:
    """`offsets`: the kept ticks, the newest last. Each tick makes a new object."""

    rows: GroupTableRows
    offsets: tuple[_TickOffsets, ...]

    @classmethod
    def of(
        cls, groups: GroupColumns, at_ms: int, previous: "RecentOffsets | None" = None
    ) -> "RecentOffsets":
        rows = GroupTableRows.of(groups)
        # Copies: a view would keep the whole tick in memory.
        committed, end = (
            np.array(pc.fill_null(groups.table[name], lag_state.UNKNOWN_OFFSET), dtype=np.int64)
            for name in ("committed_offset", "log_end_offset")
        )
        newest = _TickOffsets(at_ms, committed, end)
        earlier = previous.kept_offsets(at_ms) if previous else ()
        if previous is not None and earlier and not rows.has_same_rows(previous.rows):
            row_numbers, exists = rows.rows_in(previous.rows)
            earlier = tuple(each.take(row_numbers, exists) for each in earlier)
        return cls(rows, (*earlier, newest))

    def kept_offsets(self, at_ms: int) -> tuple[_TickOffsets, ...]:
        """The offsets that the next tick, of `at_ms`, keeps."""
        oldest_ms = at_ms - lag_state.OBSERVED_MS_MAX
        recent = [each for each in self.offsets if oldest_ms <= each.at_ms < at_ms]
        if len(recent) > 1 and recent[-1].at_ms - recent[-2].at_ms < STEP_MS:
            del recent[-1]
        return tuple(recent)

    @cached_property
    def times_ms(self) -> np.ndarray:
        """The times of `offsets`."""
        return np.array([each.at_ms for each in self.offsets], dtype=np.int64)

    @property
    def is_committed(self) -> np.ndarray:
        """For each row: whether there is a commit."""
        committed: np.ndarray = self.offsets[-1].committed >= 0
        return committed

    @cached_property
    def lag_states(self) -> np.ndarray:
        """The LagState of each row."""
        owner = pc.fill_null(pc.binary_length(self.rows.groups.table["member_id"]), 0)
        found = lag_state.lag_states(self.times_ms, *self._stacked(), owner.to_numpy() > 0)
        found[self.rows.topic < 0] = lag_state.LagState.CAUGHT_UP  # a group that reads nothing
        return found

    @cached_property
    def rates(self) -> dict[str, np.ndarray]:
        """Row by row, per second: records `consumed` and `produced`."""
        committed, ends = self._stacked()
        return {
            "consumed": rates(self.times_ms, committed),
            "produced": rates(self.times_ms, ends),
        }

    def lag_state_counts(self, n: int, is_shown: np.ndarray) -> np.ndarray:
        """For each of `n` groups the number of its partitions in each LagState.

        `is_shown`: for each pair, whether its partitions are counted.
        """
        rows = (self.rows.topic >= 0) & is_shown[self.rows.pair]
        codes = self.rows.group[rows] * len(lag_state.LagState) + self.lag_states[rows]
        return np.bincount(codes, minlength=n * len(lag_state.LagState)).reshape(
            n, len(lag_state.LagState)
        )

    def _stacked(self) -> tuple[np.ndarray, np.ndarray]:
        """(commits, end offsets), each with a row per kept tick and a column per table row."""
        return (
            np.stack([each.committed for each in self.offsets]),
            np.stack([each.end for each in self.offsets]),
        )


def rates(at_ms: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The growth of each column per second since its first known value; NaN = not known."""
    known = values >= 0
    first = known.argmax(axis=0)
    seconds = (at_ms[-1] - at_ms[first]) / 1000
    grown = values[-1] - values[first, np.arange(values.shape[1])]
    is_known = known[-1] & (seconds > 0)
    return np.where(is_known, grown / np.where(seconds > 0, seconds, 1), np.nan)
