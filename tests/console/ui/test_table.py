import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.ui.table import Column, Table

COLUMNS = [
    Column("name", "Name", lambda row: row[0]),
    Column("size", "Size", lambda row: row[1], numeric=True),
    Column("note", "Note"),
]
ROWS = [("b", 2), ("a", None), ("c", 10), ("ab", 1)]


def shown(params, rows=ROWS, **options):
    table = Table(params, COLUMNS, "name", **options)
    return table.show(rows, lambda row: row[0])


def test_a_table_sorts_by_the_url():
    assert [row[0] for row in shown({}).rows] == ["a", "ab", "b", "c"]
    assert [row[0] for row in shown({"sort": "-name"}).rows] == ["c", "b", "ab", "a"]


@pytest.mark.parametrize("sort", ["size", "-size"])
def test_what_is_unknown_sorts_last_both_ways(sort):
    assert shown({"sort": sort}).rows[-1] == ("a", None)


def test_every_word_of_a_search_must_be_found():
    assert [row[0] for row in shown({"q": "A b"}).rows] == ["ab"]


def test_a_table_is_paged_with_links_to_the_next_pages():
    table = shown({"page": "2", "q": ""}, [(f"{n:03}", n) for n in range(25)], page_size=10)
    assert (table.first, table.last, table.total, table.pages) == (11, 20, 25, 3)
    assert (table.previous_url, table.next_url) == ("?page=1", "?page=3")


def test_a_page_past_the_end_is_the_last_and_one_before_the_beginning_the_first():
    assert shown({"page": "99"}, page_size=3).page == 2
    assert shown({"page": "0"}, page_size=3).page == 1


def test_the_user_chooses_how_many_rows_a_page_has():
    rows = [(f"{n:03}", n) for n in range(60)]
    table = shown({"rows": "50", "page": "2"}, rows)
    assert (table.first, table.last) == (51, 60)
    assert table.page_size_urls == [(25, "?rows=25"), (50, "?rows=50"), (100, "?rows=100")]
    for other in ("", "7", "-1", "1000000"):
        assert shown({"rows": other}, rows).last == 25
    assert shown({}, rows[:25]).page_size_urls == []
    assert shown({"rows": "50"}, rows, page_size=10).page_size_urls == []


def test_numeric_columns_sort_descending_first():
    table = shown({"q": "a"})
    assert table.sort_url(COLUMNS[1]) == "?q=a&sort=-size"
    assert shown({"sort": "-size"}).sort_url(COLUMNS[1]) == "?sort=size"


def test_other_parameters_stay_in_the_url():
    assert shown({"internal": "1", "page": "3"}).url(page=None) == "?internal=1"


@given(st.dictionaries(st.sampled_from(["q", "sort", "page"]), st.text(max_size=30)))
def test_no_hand_edited_url_makes_it_fail(params):
    table = shown(params)
    assert 1 <= table.page <= table.pages
    assert table.headings
