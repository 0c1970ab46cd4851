"""Tables from the database: what is shown, and how little is read for it."""

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from console.ui.queryset_table import Column, QuerySetTable

COLUMNS = [
    Column("name", "Name", "username"),
    Column("seen", "Last signed in", "last_login", numeric=True),
    Column("who", "Who", ("last_name", "first_name")),
    Column("note", "Note"),
]
User = get_user_model()
pytestmark = pytest.mark.django_db


@pytest.fixture
def users(db):
    User.objects.bulk_create(
        User(username=name, last_name=last, first_name=first)
        for name, last, first in (("b", "Y", "1"), ("a", "X", "2"), ("c", "X", "1"), ("ab", "", ""))
    )
    User.objects.filter(username="c").update(last_login="2026-01-02T00:00:00Z")
    User.objects.filter(username="b").update(last_login="2026-01-01T00:00:00Z")


def shown(params, **options):
    table = QuerySetTable(params, COLUMNS, "name", **options)
    return table.show(User.objects.all(), ("username", "last_name"))


def names(table):
    return [row.username for row in table.rows]


@pytest.mark.parametrize(
    ("params", "found"),
    [
        ({}, ["a", "ab", "b", "c"]),
        ({"sort": "-name"}, ["c", "b", "ab", "a"]),
        ({"sort": "seen"}, ["b", "c", "ab", "a"]),  # what is unknown last, both ways
        ({"sort": "-seen"}, ["c", "b", "ab", "a"]),
        ({"sort": "who"}, ["ab", "c", "a", "b"]),
        ({"sort": "note"}, ["a", "ab", "b", "c"]),
        ({"q": "A B"}, ["ab"]),
        ({"q": "x"}, ["a", "c"]),
        ({"q": "100%"}, []),
        ({"q": "a\x00b"}, ["ab"]),
    ],
)
def test_it_is_searched_and_sorted_as_the_url_says(users, params, found):
    assert names(shown(params)) == found


def test_only_the_rows_of_the_page_are_read(users):
    with CaptureQueriesContext(
        connection,
    ) as queries:
        table = shown({"page": "2"}, page_size=2)
        assert names(table) == ["b", "c"]
    assert len(queries) == 2
    assert "LIMIT 2 OFFSET 2" in queries[1]["sql"]
    assert (table.first, table.last, table.total, table.pages) == (3, 4, 4, 2)
    assert (table.previous_url, table.next_url) == ("?page=1", "")


def test_map_rows_replaces_each_row(users):
    table = shown({}, page_size=2).map_rows(lambda row: row.username.upper())
    assert (table.rows, table.total) == (["A", "AB"], 4)


def test_databases_may_sort_by_an_index_where_nothing_is_unknown(users):
    for sort, told in (("-name", False), ("-seen", True)):
        with CaptureQueriesContext(connection) as queries:
            names(shown({"sort": sort}))
        assert ("NULLS LAST" in queries[-1]["sql"]) is told


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(st.dictionaries(st.sampled_from(["q", "sort", "page"]), st.text(max_size=30)))
def test_no_hand_edited_url_makes_it_fail(users, params):
    table = shown(params)
    assert 1 <= table.page <= table.pages
    assert len(table.rows) <= 4
