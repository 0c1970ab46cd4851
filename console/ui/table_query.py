"""What a table's query string says: search, order and page; and the URLs that lead on from there.

The parameters are `q` (search), `sort` (a column's key, with "-" in front for descending) and
`page`. Anything else in a query string is kept as it is. Wrong values fall back to the defaults: a
URL that was edited by hand shows a table, not an error.

The rows come from memory (table.py) or from the database (queryset_table.py). Either is paged by
Django's Paginator, so that templates need not know which.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlencode

from django.core.paginator import Page, Paginator

PAGE_SIZE = 50
SEARCH_LENGTH_MAX = 200


@dataclass(frozen=True, slots=True)
class Column:
    """One column. What is unknown (None) always sorts last.

    Attributes:
        value: what a row is sorted by: a function of a row in memory, or the name of a field of the
            database or several; without it the column cannot be sorted by.
    """

    key: str
    title: str
    value: Callable[[Any], Any] | str | tuple[str, ...] | None = None
    numeric: bool = False


class TableQuery:
    """One request's view of a table; its subclasses put the rows of the page into it."""

    def __init__(
        self,
        params: Mapping[str, str],
        columns: Sequence[Column],
        sort: str,
        id: str = "table",
        page_size: int = PAGE_SIZE,
    ) -> None:
        """`sort` is the default order."""
        asked = params.get("sort", "")
        known = {column.key for column in columns if column.value}
        self.columns = columns
        self.sort = asked if asked.removeprefix("-") in known else sort
        self.query = params.get("q", "").strip()[:SEARCH_LENGTH_MAX]
        self.params = {key: params[key] for key in params}
        self.id = id
        self.page_size = page_size
        self._page: Page[Any] = Paginator([], page_size).get_page(1)
        self.rows: list[Any] = []  # of the page

    @property
    def words(self) -> list[str]:
        """Each of them must be found."""
        return self.query.lower().split()

    @property
    def sorted_by(self) -> Column:
        key = self.sort.removeprefix("-")
        return next(column for column in self.columns if column.key == key)

    @property
    def is_descending(self) -> bool:
        return self.sort.startswith("-")

    def turn_to_page(self, rows: Any) -> Self:
        """Takes the page that was asked for from all rows, a list or a QuerySet; else the last."""
        number = self.params.get("page", "1")
        is_number = number.isascii() and number.isdigit() and len(number) < 8
        # Page 0 is no page: the first one is shown, as where there is no number.
        self._page = Paginator(rows, self.page_size).get_page(
            (int(number) or 1) if is_number else 1
        )
        self.rows = list(self._page.object_list)
        return self

    def each(self, made: Callable[[Any], Any]) -> Self:
        """Puts what is made of it in the place of each row of the page."""
        self.rows = [made(row) for row in self.rows]
        return self

    @property
    def page(self) -> int:
        return self._page.number

    @property
    def pages(self) -> int:
        return self._page.paginator.num_pages

    @property
    def total(self) -> int:
        """How many rows there are after the search."""
        return self._page.paginator.count

    @property
    def first(self) -> int:
        return self._page.start_index()

    @property
    def last(self) -> int:
        return self._page.end_index()

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
        return "descending" if self.is_descending else "ascending"

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
        if not self._page.has_previous():
            return ""
        return self.url(page=self._page.previous_page_number())

    @property
    def next_url(self) -> str:
        return self.url(page=self._page.next_page_number()) if self._page.has_next() else ""
