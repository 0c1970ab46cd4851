"""The partitions of a group as rows, built when they are read: a page shows few of many. Pure."""

from collections.abc import Iterator, Sequence
from typing import overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from monitoring.lag.formula import lag_between, with_lag
from monitoring.lag.lag_state import LagState
from monitoring.read_model.numpy_columns import float_or_none, int_or_none
from monitoring.read_model.row_types import LagRow
from monitoring.read_model.tick_columns import TickColumns

_BATCH_ROWS = 1000  # built together when all are read


class LagRows(Sequence[LagRow]):
    """Rows of the tick's group table, by their indexes `rows`."""

    def __init__(self, columns: TickColumns, rows: np.ndarray) -> None:
        self._columns = columns
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> LagRow: ...
    @overload
    def __getitem__(self, index: slice) -> list[LagRow]: ...

    def __getitem__(self, index: int | slice) -> LagRow | list[LagRow]:
        if isinstance(index, int):
            return self._build(self._rows[[index]])[0]
        return self._build(self._rows[index])

    def __iter__(self) -> Iterator[LagRow]:
        for start in range(0, len(self), _BATCH_ROWS):
            yield from self[start : start + _BATCH_ROWS]

    def _build(self, rows: np.ndarray) -> list[LagRow]:
        table = with_lag(self._columns.groups.table.take(pa.array(rows)))
        stored = [name for name in LagRow.__slots__ if name in table.column_names]
        commits = self._columns.commits
        records, is_committed = self._columns.records(rows), commits.is_committed[rows]
        lags = pc.fill_null(table["lag"], 0).to_numpy()
        deleted = np.where(is_committed, np.maximum(lags - records, 0), np.nan)
        columns = {
            **table.select(stored).to_pydict(),
            "lag_state": [LagState(code) for code in commits.lag_states[rows].tolist()],
            "uncommitted_records": list(map(int_or_none, np.where(is_committed, np.nan, records))),
            "deleted_records": list(map(int_or_none, deleted)),
            "consumed_rate": list(map(float_or_none, commits.rates["consumed"][rows])),
            "produced_rate": list(map(float_or_none, commits.rates["produced"][rows])),
        }
        return list(map(LagRow, *(columns[name] for name in LagRow.__slots__)))

    def behind(self) -> "LagRows":
        """The rows that are not caught up."""
        is_behind = self._columns.commits.lag_states[self._rows] != LagState.CAUGHT_UP
        return LagRows(self._columns, self._rows[is_behind])

    def sorted_by(self, key: str, is_descending: bool) -> "LagRows":
        """The rows in another order; unknown values come last."""
        values = self._sort_values(key)
        unknown = np.isnan(values)
        order = np.lexsort((-values if is_descending else values, unknown))
        return LagRows(self._columns, self._rows[order])

    def _sort_values(self, key: str) -> np.ndarray:
        """One number per row, NaN = unknown. Raises KeyError."""
        columns, rows = self._columns, self._rows
        found = columns.commits.rows
        committed, end = (
            columns.groups.table[name].take(pa.array(rows)).to_numpy().astype(np.float64)
            for name in ("committed_offset", "log_end_offset")
        )
        values = {
            "topic": lambda: columns.groups.topic_names.position[found.topic[rows]],
            "partition": lambda: found.partition[rows],
            "state": lambda: columns.commits.lag_states[rows],
            "lag": lambda: lag_between(committed, end),
            "unread": lambda: np.where(np.isnan(committed), columns.records(rows), np.nan),
            "rate": lambda: (
                columns.commits.rates["produced"][rows] - columns.commits.rates["consumed"][rows]
            ),
            "owner": lambda: _ranks(columns.groups.table["client_id"].take(pa.array(rows))),
            "committed": lambda: committed,
            "end": lambda: end,
        }
        ordered: np.ndarray = np.asarray(values[key](), dtype=np.float64)  # type: ignore[no-untyped-call]
        return ordered


def _ranks(texts: pa.ChunkedArray) -> np.ndarray:
    """The alphabetical rank of each text; NaN for null."""
    encoded = texts.combine_chunks().dictionary_encode()
    order = pc.array_sort_indices(encoded.dictionary).to_numpy()
    ranks = np.empty(len(order) + 1, dtype=np.float64)
    ranks[order] = np.arange(len(order))
    ranks[-1] = np.nan  # of null
    found: np.ndarray = ranks[pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False)]
    return found
