"""Tables of database rows: searched, sorted and paginated by the database."""

from collections.abc import Iterable
from typing import Any, Self

from django.core.exceptions import FieldDoesNotExist
from django.db.models import F, Model, Q, QuerySet
from django.db.models.expressions import OrderBy

from console.ui.table_query import Column, TableQuery

__all__ = ["Column", "QuerySetTable"]


class QuerySetTable(TableQuery):
    """A table of a QuerySet; after `show` it contains the rows of the page."""

    def show(self, rows: QuerySet[Any], searched: Iterable[str]) -> Self:
        """Search, sort and paginate `rows`; `searched` are the fields of the search.

        Rows with equal sort keys are sorted by primary key, newest first.
        """
        fields = tuple(searched)
        for word in self.search.replace("\x00", " ").split():  # PostgreSQL takes no NUL
            rows = rows.filter(_any_contains(fields, word))
        value = self.sorted_by.value
        assert isinstance(value, str | tuple)
        names = (value,) if isinstance(value, str) else value
        order = [_order(rows.model, name, self.is_descending) for name in names]
        return self.paginate(rows.order_by(*order, "-pk"))


def _order(model: type[Model], name: str, is_descending: bool) -> OrderBy:
    """Nulls last, but only for nullable fields: with NULLS LAST databases do not use an index."""
    nulls_last = True if _may_be_null(model, name) else None
    field = F(name)
    return field.desc(nulls_last=nulls_last) if is_descending else field.asc(nulls_last=nulls_last)


def _may_be_null(model: type[Model], name: str) -> bool:
    """Annotations, which are not model fields, may be null."""
    current: Any = model
    for part in name.split("__"):
        try:
            field = current._meta.get_field(part)
        except FieldDoesNotExist:
            return True
        if field.null:
            return True
        current = field.related_model
    return False


def _any_contains(fields: Iterable[str], word: str) -> Q:
    condition = Q()
    for name in fields:
        condition |= Q((f"{name}__icontains", word))
    return condition
