"""Lists as CSV: the rows that match the search, in their order, without formulas."""

import csv
import io
from types import SimpleNamespace

import pytest
from django.urls import reverse

from console.audit import write_entry
from console.ui import csv_export
from console.ui.csv_export import to_csv
from console.ui.table import Column, Table
from monitoring.partial_sum import PartialSum

COLUMNS = [
    Column("name", "Name", lambda row: row.name),
    Column("lag", "Lag", lambda row: row.lag, numeric=True),
    Column("graph", "Graph"),
]


def rows_of(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


def table(params, *rows):
    return Table(params, COLUMNS, "name", page_size=2).show(rows, lambda row: row.name)


def row(name, value, missing=0):
    return SimpleNamespace(name=name, lag=PartialSum(value, missing, 1))


def test_all_pages_are_exported_in_the_order_of_the_table():
    shown = table({"sort": "-lag"}, row("a", 1), row("b", 3), row("c", None, 1))
    assert rows_of(to_csv(shown)) == [["name", "lag"], ["b", "3"], ["a", "1"], ["c", ""]]


def test_only_rows_that_match_the_search_are_exported():
    assert rows_of(to_csv(table({"q": "b"}, row("a", 1), row("b", 3))))[1:] == [["b", "3"]]


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@a", "\tx"])
def test_a_name_is_not_run_as_a_formula_by_a_spreadsheet(name):
    assert rows_of(to_csv(table({}, row(name, -1))))[1] == [f"'{name}", "-1"]


def test_a_file_has_a_limited_number_of_rows(monkeypatch):
    monkeypatch.setattr(csv_export, "ROWS_MAX", 2)
    assert len(rows_of(to_csv(table({}, *(row(name, 1) for name in "abc"))))) == 3


@pytest.mark.parametrize(
    ("url", "first", "name"),
    [("/c/local/groups", "billing", "groups.csv"), ("/c/local/topics", "orders", "topics.csv")],
)
def test_a_live_list_is_a_file(sampled, client_of, viewer, url, first, name):
    answer = client_of(viewer).get(f"{url}?format=csv")
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert answer["Content-Disposition"] == f'attachment; filename="{name}"'
    assert first in [line[0] for line in rows_of(answer.content.decode())]


def test_a_file_has_nothing_that_the_user_may_not_see(sampled, client_of, viewer, outsider):
    assert (
        "console.audit" not in client_of(viewer).get("/c/local/topics?format=csv").content.decode()
    )
    assert client_of(outsider).get("/c/local/topics?format=csv").status_code == 404


def test_the_audit_log_is_a_file_with_its_filters(db, redis_server, client_of, admin):
    write_entry.record(admin, "topic.create", "local", "orders", remote_addr="10.0.0.9")
    write_entry.record(admin, "topic.delete", "local", "orders")
    answer = client_of(admin).get(reverse("audit") + "?format=csv&action=topic.create")
    [head, only] = rows_of(answer.content.decode())
    entry = dict(zip(head, only, strict=True))
    assert (entry["action"], entry["actor"], entry["from"]) == ("topic.create", "admin", "10.0.0.9")
    assert entry["at"].endswith("+00:00")
