"""Tables of rows in memory: each request searches and sorts all rows."""

from collections.abc import Callable, Sequence
from typing import Any, Self

from console.ui.table_query import PAGE_SIZE, Column, TableQuery
from monitoring.partial_sum import PartialSum

__all__ = ["PAGE_SIZE", "Column", "Table"]


class Table(TableQuery):
    """A table of rows in memory; after `show` it contains the rows of the page."""

    total_unfiltered = 0  # the number of rows without the search

    def show(self, rows: Sequence[Any], text: Callable[[Any], str]) -> Self:
        """Search, sort and paginate `rows`; the search looks into `text(row)`."""
        self.total_unfiltered = len(rows)
        for word in self.words:
            rows = [row for row in rows if word in text(row).lower()]
        return self.paginate(self._sorted(rows))

    def _sorted(self, rows: Sequence[Any]) -> Sequence[Any]:
        sort_value = self.sorted_by.value
        assert callable(sort_value)  # names of fields are only for queryset_table.py
        values = map(sort_value, rows)
        keys: list[Any] = [v.value if isinstance(v, PartialSum) else v for v in values]
        # Sorts indexes: 10,000 new pairs (key, row) per request would trigger garbage collections.
        known = [index for index, key in enumerate(keys) if key is not None]
        known.sort(key=keys.__getitem__, reverse=self.is_descending)
        unknown = [index for index, key in enumerate(keys) if key is None]
        return [rows[index] for index in (*known, *unknown)]
