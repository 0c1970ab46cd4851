"""Exports any list as CSV: `?format=csv` on the page of a table, with its search and its order.

The header has the keys of the columns, which are the same in every language. An unknown value is an
empty field.
"""

import csv
import io
from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import islice
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from console.ui.table_query import Column, TableQuery
from monitoring.partial_sum import PartialSum
from monitoring.spreadsheet_formulas import without_formula

ROWS_MAX = 100_000


def page_or_csv(
    request: HttpRequest, template: str, context: Mapping[str, Any], status: int = 200
) -> HttpResponse:
    """The page, or its `table` as CSV if the URL asks for that."""
    table = context.get("table")
    if request.GET.get("format") == "csv" and isinstance(table, TableQuery):
        response = HttpResponse(to_csv(table), content_type="text/csv; charset=utf-8")
        response["Content-Disposition"] = f'attachment; filename="{table.id}.csv"'
        return response
    return render(request, template, dict(context), status=status)


def to_csv(table: TableQuery) -> str:
    """All rows that match the search, up to ROWS_MAX."""
    columns = table.csv_columns
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([column.key for column in columns])
    rows: Iterable[Any] = table.matching
    if isinstance(rows, QuerySet):
        rows = rows.iterator(chunk_size=2000)
    for row in islice(rows, ROWS_MAX):
        writer.writerow([_text(_value(column, row)) for column in columns])
    return text.getvalue()


def _value(column: Column, row: Any) -> Any:
    value = column.exported or column.value
    if callable(value):
        return value(row)
    name = value if isinstance(value, str) else (value or ())[0]  # of several the first sort key
    for part in name.split("__"):
        row = getattr(row, part, None)
    return row


def _text(value: Any) -> Any:
    if isinstance(value, PartialSum):
        value = value.value
    if value is None or isinstance(value, int | float):
        return value
    if isinstance(value, datetime):
        return value.isoformat()
    return without_formula(str(value))
