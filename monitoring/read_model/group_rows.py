"""The rows of groups, and of groups on topics, from the columns of a tick, for one scope. Pure."""

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from django.utils.functional import cached_property

from monitoring.lag.lag_state import LagState
from monitoring.lag.lag_sums import LagSums
from monitoring.read_model.numpy_columns import float_or_none, int_or_none
from monitoring.read_model.row_types import GroupOnTopicRow, GroupRow
from monitoring.read_model.scope_masks import ScopeMasks
from monitoring.read_model.tick_columns import TickColumns

Row = TypeVar("Row")

_WORST_FIRST = tuple(reversed(LagState))


@dataclass(frozen=True, eq=False)
class GroupRows:
    """Makes rows on demand; sums and states of all groups are computed on first use."""

    masks: ScopeMasks

    @property
    def columns(self) -> TickColumns:
        return self.masks.columns

    @cached_property
    def sums(self) -> LagSums:
        groups = self.columns.groups
        return groups.sums.sums_by(groups.group, len(groups.group_names.all), self.masks.pairs)

    @cached_property
    def _topic_counts(self) -> np.ndarray:
        """For each group: the number of topics that it reads."""
        groups = self.columns.groups
        read = groups.group[self.masks.pairs & (groups.topic >= 0)]
        return np.bincount(read, minlength=len(groups.group_names.all))

    def of_groups(self, codes: np.ndarray) -> list[GroupRow]:
        groups = self.columns.groups
        columns = {
            **groups.facts.take(pa.array(codes)).to_pydict(),
            **self.sums.take(codes).value_lists(),
            "group": [groups.group_names.all[code] for code in codes.tolist()],
            "topics": self._topic_counts[codes].tolist(),
            **self._state_columns(codes),
        }
        return _rows(GroupRow, columns)

    def _state_columns(self, codes: np.ndarray) -> dict[str, list[Any]]:
        """The state of each group, and its rates."""
        counts = self.state_counts[codes]
        lag_states = [
            tuple((lag_state, row[lag_state]) for lag_state in _WORST_FIRST if row[lag_state])
            for row in counts.tolist()
        ]
        rates = {name: sums[codes].tolist() for name, sums in self._group_rates.items()}
        return {
            "lag_state": [row[0][0] if row else LagState.UNKNOWN for row in lag_states],
            "lag_states": lag_states,
            "uncommitted_records": list(map(int_or_none, self._uncommitted_records[codes])),
            "consumed_rate": list(map(float_or_none, rates["consumed"])),
            "produced_rate": list(map(float_or_none, rates["produced"])),
        }

    @cached_property
    def state_counts(self) -> np.ndarray:
        """Per group and LagState: the number of partitions."""
        return self.columns.commits.lag_state_counts(
            len(self.columns.groups.group_names.all), self.masks.pairs
        )

    @cached_property
    def _group_rates(self) -> dict[str, np.ndarray]:
        """Per group: the sums of its partitions' rates that are known; NaN if none is."""
        commits = self.columns.commits
        rates = commits.rates
        known = ~np.isnan(rates["consumed"]) & ~np.isnan(rates["produced"])
        rows = np.flatnonzero(known & (commits.rows.topic >= 0) & self.masks.rows)
        groups, n = commits.rows.group[rows], len(self.columns.groups.group_names.all)
        is_known = np.bincount(groups, minlength=n) > 0
        return {
            name: np.where(is_known, np.bincount(groups, values[rows], minlength=n), np.nan)
            for name, values in rates.items()
        }

    @cached_property
    def _uncommitted_records(self) -> np.ndarray:
        """Per group: the records in partitions without a commit; NaN if one is unknown."""
        commits = self.columns.commits
        wanted = ~commits.is_committed & (commits.rows.topic >= 0) & self.masks.rows
        rows = np.flatnonzero(wanted)
        n = len(self.columns.groups.group_names.all)
        return np.bincount(commits.rows.group[rows], self.columns.records(rows), minlength=n)

    def of_pairs(self, pairs: np.ndarray) -> list[GroupOnTopicRow]:
        groups = self.columns.groups
        codes = groups.group[pairs]
        columns = {
            **groups.facts.take(pa.array(codes)).to_pydict(),
            **groups.sums.take(pairs).value_lists(),
            "group": [groups.group_names.all[code] for code in codes.tolist()],
            "lag_state": [LagState(code) for code in self._pair_states[pairs].tolist()],
        }
        return _rows(GroupOnTopicRow, columns)

    @cached_property
    def _pair_states(self) -> np.ndarray:
        """For each pair: the worst LagState of its partitions."""
        commits = self.columns.commits
        worst = np.full(len(self.masks.pairs), int(LagState.CAUGHT_UP))
        np.maximum.at(worst, commits.rows.pair, commits.lag_states)
        return worst


def _rows(row: type[Row], columns: dict[str, list[Any]]) -> list[Row]:
    """Rows of type `row` from columns; columns that the type does not have are ignored."""
    used = (columns[name] for name in row.__slots__)  # type: ignore[attr-defined]
    return list(map(row, *used))
