"""Sums of lag over the rows of a tick's group table, by the formula (formula.py). Pure.

Offsets are integers here, so that the sums are exact.
"""

from dataclasses import dataclass, fields

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from monitoring.lag.formula import counted_lag, has_lag, lag_between
from monitoring.partial_sum import PartialSum


@dataclass(frozen=True, slots=True)
class LagSums:
    """Sums of lag, one per pair or per group.

    Partitions without a commit or with an unknown end offset are counted but not added. A partition
    with a commit beyond its end is ahead: it adds 0, so that its negative lag does not hide another
    partition's; `ahead_by` sums the offsets beyond the end.
    """

    partitions: np.ndarray
    known: np.ndarray  # partitions that have a lag; 0 = the sum is not known
    lag: np.ndarray
    ahead: np.ndarray
    ahead_by: np.ndarray
    not_committed: np.ndarray
    end_unknown: np.ndarray

    @classmethod
    def of_rows(cls, table: pa.Table, is_partition: np.ndarray) -> "LagSums":
        """One entry for each row of a tick's group table; `is_partition`: the rows with a topic."""
        committed, is_committed = _integers(table["committed_offset"])
        end, has_end = _integers(table["log_end_offset"])
        known = has_lag(is_committed, has_end)
        lag = np.where(known, lag_between(committed, end), 0)
        return cls(
            partitions=is_partition,
            known=known & is_partition,
            lag=np.where(known, counted_lag(committed, end), 0),
            ahead=(lag < 0) & is_partition,
            ahead_by=np.maximum(-lag, 0),
            not_committed=~is_committed & is_partition,
            end_unknown=is_committed & ~has_end & is_partition,
        )

    def sums_by(self, codes: np.ndarray, n: int, mask: np.ndarray | None = None) -> "LagSums":
        """The sums per code, of all entries or of those that `mask` selects."""
        selection = slice(None) if mask is None else mask
        codes = codes[selection]
        sums = []
        for field in fields(self):
            total = np.zeros(n, dtype=np.int64)
            np.add.at(total, codes, getattr(self, field.name)[selection].astype(np.int64))
            sums.append(total)
        return LagSums(*sums)

    def take(self, codes: np.ndarray) -> "LagSums":
        """The entries with these indices."""
        return LagSums(*(getattr(self, field.name)[codes] for field in fields(self)))

    def __getitem__(self, code: int) -> PartialSum:
        """Partitions without a commit have no lag and are not counted."""
        return PartialSum(
            int(self.lag[code]) if self.known[code] else None,
            int(self.end_unknown[code]),
            int(self.partitions[code] - self.not_committed[code]),
            ahead=int(self.ahead[code]),
            ahead_by=int(self.ahead_by[code]),
        )

    def value_lists(self) -> dict[str, list[int | None]]:
        """The values for the rows of pages (row_types.py), by column name."""
        lags = zip(self.lag.tolist(), self.known.tolist(), strict=True)
        columns: dict[str, list[int | None]] = {
            name: getattr(self, name).tolist()
            for name in ("partitions", "ahead", "ahead_by", "not_committed", "end_unknown")
        }
        return columns | {"lag": [lag if known else None for lag, known in lags]}


def _integers(column: pa.ChunkedArray) -> tuple[np.ndarray, np.ndarray]:
    """(values, whether each is known); unknown values are 0."""
    known = pc.is_valid(column).to_numpy()
    return pc.fill_null(column, 0).to_numpy(), known
