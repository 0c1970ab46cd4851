"""Tables that are searched, sorted and paged on the server, with the URL holding the state.

A `Table` is made from the query string and a list of columns; `show(rows)` applies it. The
parameters are `q` (search), `sort` (a column's key, with "-" in front for descending) and `page`.
Anything else in a query string is kept as it is. Wrong values fall back to the defaults: a URL
that was edited by hand shows a table, not an error.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from monitoring.views.partial_sum import PartialSum

PAGE_SIZE = 50
SEARCH_LENGTH_MAX = 200


@dataclass(frozen=True, slots=True)
class Column:
    """One column. `value` gives what a row is sorted by; None (unknown) always sorts last."""

    key: str
    title: str
    value: Callable[[Any], Any] | None = None
    numeric: bool = False


@dataclass(slots=True)
class Table:
    """One request's view of a table; after `show` it holds the rows of the page."""

    columns: Sequence[Column]
    sort: str
    query: str
    page: int
    params: dict[str, str]
    id: str = "table"
    page_size: int = PAGE_SIZE
    rows: Sequence[Any] = field(default_factory=list)
    total: int = 0  # after the search
    total_before: int = 0

    @classmethod
    def of(
        cls,
        params: Mapping[str, str],
        columns: Sequence[Column],
        sort: str,
        id: str = "table",
        page_size: int = PAGE_SIZE,
    ) -> "Table":
        """The state that a query string describes; `sort` is the default order."""
        asked = params.get("sort", "")
        known = {column.key for column in columns if column.value}
        page = params.get("page", "1")
        return cls(
            columns=columns,
            sort=asked if asked.removeprefix("-") in known else sort,
            query=params.get("q", "").strip()[:SEARCH_LENGTH_MAX],
            page=int(page) if page.isascii() and page.isdigit() and len(page) < 8 else 1,
            params={key: params[key] for key in params},
            id=id,
            page_size=page_size,
        )

    def show(self, rows: Sequence[Any], text: Callable[[Any], str]) -> "Table":
        """Searches, sorts and pages `rows`; `text` is what the search looks into."""
        self.total_before = len(rows)
        if self.query:
            words = self.query.lower().split()
            rows = [row for row in rows if all(word in text(row).lower() for word in words)]
        self.total = len(rows)
        self.page = max(1, min(self.page, self.pages))
        start = (self.page - 1) * self.page_size
        self.rows = self._sorted(rows)[start : start + self.page_size]
        return self

    def _sorted(self, rows: Sequence[Any]) -> Sequence[Any]:
        key = self.sort.removeprefix("-")
        told = next(c.value for c in self.columns if c.key == key)
        assert told is not None

        def value(row: Any) -> Any:
            found = told(row)
            return found.value if isinstance(found, PartialSum) else found

        known = [row for row in rows if value(row) is not None]
        known.sort(key=value, reverse=self.sort.startswith("-"))
        return known + [row for row in rows if value(row) is None]

    @property
    def pages(self) -> int:
        return max(1, -(-self.total // self.page_size))

    @property
    def first(self) -> int:
        return min(self.total, (self.page - 1) * self.page_size + 1)

    @property
    def last(self) -> int:
        return min(self.total, self.page * self.page_size)

    def url(self, **changes: Any) -> str:
        """This table's query string with some parameters changed; None or "" removes one."""
        params: dict[str, Any] = {**self.params, **changes}
        kept = {key: value for key, value in params.items() if value not in (None, "")}
        return "?" + urlencode(kept)

    def sort_url(self, column: Column) -> str:
        """Where a click on the column's heading leads: numbers begin with the largest."""
        first, second = (f"-{column.key}", column.key)
        if not column.numeric:
            first, second = second, first
        return self.url(sort=second if self.sort == first else first, page=None)

    def direction(self, column: Column) -> str:
        """For aria-sort: ascending, descending or none."""
        if self.sort.removeprefix("-") != column.key:
            return "none"
        return "descending" if self.sort.startswith("-") else "ascending"

    @property
    def headings(self) -> list[dict[str, Any]]:
        return [
            {
                "column": column,
                "url": self.sort_url(column) if column.value else "",
                "direction": self.direction(column),
            }
            for column in self.columns
        ]

    @property
    def hidden_params(self) -> list[tuple[str, str]]:
        """What the search form has to carry along."""
        return [(k, v) for k, v in self.params.items() if k not in ("q", "page") and v]

    @property
    def clear_url(self) -> str:
        return self.url(q=None, page=None)

    @property
    def previous_url(self) -> str:
        return self.url(page=self.page - 1) if self.page > 1 else ""

    @property
    def next_url(self) -> str:
        return self.url(page=self.page + 1) if self.page < self.pages else ""
