"""Search, order and page of a table, from the query string; and the URLs for other ones.

The parameters are `q` (search), `sort` (a column's key, with "-" in front for descending), `page`
and `rows` (of a page). Other parameters stay in the URLs. Invalid values are replaced by the
defaults.

The rows come from memory (table.py) or from the database (queryset_table.py). Both use Django's
Paginator, so that templates are the same for both.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlencode

from django.core.paginator import Page, Paginator

# So many rows fill a window of usual height. 50 rows take a browser 100 ms longer (list of topics).
PAGE_SIZE = 25
PAGE_SIZES = (25, 50, 100)
TABLE_PARAMS = ("q", "sort", "page", "rows")
SEARCH_LENGTH_MAX = 200


@dataclass(frozen=True, slots=True)
class Column:
    """One column. Unknown values (None) are always sorted last.

    Attributes:
        value: the sort key: a function of a row in memory, or the names of database fields.
            Without it the table cannot be sorted by this column.
        numeric: its cells are numbers; the first click on its heading sorts descending.
        exported: the value in CSV files, if it is not `value`.
        is_title_hidden: whether only screen readers say the title.
        is_only_in_csv: whether only the CSV file has the column. The page may show the value in
            the cell of another column.
    """

    key: str
    title: str
    value: Callable[[Any], Any] | str | tuple[str, ...] | None = None
    numeric: bool = False
    exported: Callable[[Any], Any] | None = None
    is_title_hidden: bool = False
    is_only_in_csv: bool = False


class TableQuery:
    """A table as one request asks for it; subclasses set the rows of the page."""

    def __init__(
        self,
        params: Mapping[str, str],
        columns: Sequence[Column],
        sort: str,
        id: str = "table",
        page_size: int = PAGE_SIZE,
    ) -> None:
        """`sort`: the default order, as in the parameter. Users can choose the page size unless
        `page_size` is given."""
        requested = params.get("sort", "")
        sortable = {column.key for column in columns if column.value}
        self.columns = [column for column in columns if not column.is_only_in_csv]
        self.csv_columns = [column for column in columns if column.value or column.exported]
        self.sort = requested if requested.removeprefix("-") in sortable else sort
        self.search = params.get("q", "").strip()[:SEARCH_LENGTH_MAX]
        self.params = {key: params[key] for key in params}
        self.id = id
        sizes = {str(size): size for size in PAGE_SIZES} if page_size == PAGE_SIZE else {}
        self.page_size = sizes.get(params.get("rows", ""), page_size)
        self._page: Page[Any] = Paginator([], self.page_size).get_page(1)
        self.rows: list[Any] = []  # of the page
        self.matching: Any = []  # all rows that match the search, sorted: a list or a QuerySet

    @property
    def words(self) -> list[str]:
        """The words of the search; a row must contain all."""
        return self.search.lower().split()

    @property
    def sorted_by(self) -> Column:
        key = self.sort.removeprefix("-")
        return next(column for column in self.columns if column.key == key)

    @property
    def is_descending(self) -> bool:
        return self.sort.startswith("-")

    def paginate(self, rows: Any) -> Self:
        """Select the requested page of a list or QuerySet; the last one if there are fewer."""
        self.matching = rows
        number = self.params.get("page", "1")
        is_number = number.isascii() and number.isdigit() and len(number) < 8
        # For page 0, or if the page is not a number, the first page is shown.
        self._page = Paginator(rows, self.page_size).get_page(
            (int(number) or 1) if is_number else 1
        )
        self.rows = list(self._page.object_list)
        return self

    def map_rows(self, convert: Callable[[Any], Any]) -> Self:
        """Replaces each row of the page by `convert(row)`."""
        self.rows = [convert(row) for row in self.rows]
        return self

    @property
    def page(self) -> int:
        return self._page.number

    @property
    def pages(self) -> int:
        return self._page.paginator.num_pages

    @property
    def total(self) -> int:
        """The number of rows that match the search."""
        return self._page.paginator.count

    @property
    def first(self) -> int:
        """The number of the first row of the page, from 1 on."""
        return self._page.start_index()

    @property
    def last(self) -> int:
        return self._page.end_index()

    def url(self, **changes: Any) -> str:
        """This table's query string with some parameters changed; None or "" removes one."""
        changed: dict[str, Any] = {**self.params, **changes}
        return "?" + urlencode({key: v for key, v in changed.items() if v not in (None, "")})

    def sort_url(self, column: Column) -> str:
        """The URL of the column's heading; the first click on numbers sorts descending."""
        first, second = (f"-{column.key}", column.key)
        if not column.numeric:
            first, second = second, first
        return self.url(sort=second if self.sort == first else first, page=None)

    def direction(self, column: Column) -> str:
        """The value of aria-sort for a heading: ascending, descending or none."""
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
        """The parameters that the search form keeps, as hidden fields."""
        return [(k, v) for k, v in self.params.items() if k not in ("q", "page") and v]

    @property
    def clear_url(self) -> str:
        return self.url(q=None, page=None)

    @property
    def csv_url(self) -> str:
        """The URL of all rows that match the search, as CSV (csv_export.py)."""
        return self.url(format="csv", page=None)

    @property
    def page_size_urls(self) -> list[tuple[int, str]]:
        """The sizes to choose from, with their URLs; none if the smallest shows all rows."""
        if self.page_size not in PAGE_SIZES or self.total <= PAGE_SIZES[0]:
            return []
        return [(size, self.url(rows=size, page=None)) for size in PAGE_SIZES]

    @property
    def previous_url(self) -> str:
        if not self._page.has_previous():
            return ""
        return self.url(page=self._page.previous_page_number())

    @property
    def next_url(self) -> str:
        return self.url(page=self._page.next_page_number()) if self._page.has_next() else ""
