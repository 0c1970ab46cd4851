"""Tables of rows that are in memory: searched and sorted here, all of them for each page."""

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, Self

from console.ui.table_query import PAGE_SIZE, Column, TableQuery
from monitoring.read_model.partial_sum import PartialSum

__all__ = ["PAGE_SIZE", "Column", "Table"]


class Table(TableQuery):
    """One request's view of rows in memory; after `show` it holds those of the page."""

    total_before = 0  # how many rows there are without the search

    def show(self, rows: Sequence[Any], text: Callable[[Any], str]) -> Self:
        """Searches, sorts and pages `rows`; `text` is what the search looks into."""
        self.total_before = len(rows)
        for word in self.words:
            rows = [row for row in rows if word in text(row).lower()]
        return self.turn_to_page(self._sorted(rows))

    def _sorted(self, rows: Sequence[Any]) -> Sequence[Any]:
        sort_value = self.sorted_by.value
        assert callable(sort_value)
        found = map(sort_value, rows)
        keys = [key.value if isinstance(key, PartialSum) else key for key in found]
        keyed = list(zip(keys, rows, strict=True))
        known = [pair for pair in keyed if pair[0] is not None]
        known.sort(key=itemgetter(0), reverse=self.is_descending)
        return [row for _, row in known] + [row for key, row in keyed if key is None]
