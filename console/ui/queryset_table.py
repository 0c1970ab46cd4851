"""Tables from the database: searched, sorted and paged there, only the page's rows are read."""

from collections.abc import Iterable
from typing import Any, Self

from django.core.exceptions import FieldDoesNotExist
from django.db.models import F, Model, Q, QuerySet
from django.db.models.expressions import OrderBy

from console.ui.table_query import Column, TableQuery

__all__ = ["Column", "QuerySetTable"]


class QuerySetTable(TableQuery):
    """One request's view of a QuerySet; after `show` it holds the rows of the page."""

    def show(self, rows: QuerySet[Any], searched: Iterable[str]) -> Self:
        """Searches, sorts and pages `rows`; `searched` are the fields that the search looks into.

        Rows that are equal in what they are sorted by come newest first.
        """
        fields = tuple(searched)
        for word in self.query.replace("\x00", " ").split():  # PostgreSQL takes no NUL
            rows = rows.filter(_any(fields, word))
        value = self.sorted_by.value
        assert isinstance(value, str | tuple)
        names = (value,) if isinstance(value, str) else value
        order = [_order(rows.model, name, self.is_descending) for name in names]
        return self.turn_to_page(rows.order_by(*order, "-pk"))


def _order(model: type[Model], name: str, is_descending: bool) -> OrderBy:
    """Nulls last where there may be any: only without that do databases use an index to sort."""
    nulls_last = True if _may_be_null(model, name) else None
    field = F(name)
    return field.desc(nulls_last=nulls_last) if is_descending else field.asc(nulls_last=nulls_last)


def _may_be_null(model: type[Model], name: str) -> bool:
    """What is no field is computed by the query: that may be null."""
    here: Any = model
    for part in name.split("__"):
        try:
            field = here._meta.get_field(part)
        except FieldDoesNotExist:
            return True
        if field.null:
            return True
        here = field.related_model
    return False


def _any(fields: Iterable[str], word: str) -> Q:
    found = Q()
    for name in fields:
        found |= Q((f"{name}__icontains", word))
    return found
