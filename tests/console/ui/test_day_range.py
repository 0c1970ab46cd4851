"""The days of a list, from the query string to times in UTC."""

from datetime import UTC, datetime

import pytest
from django.http import QueryDict

from console.ui.day_range import DayRangeForm, day_links
from console.ui.table import Column, Table


def form(query: str) -> DayRangeForm:
    return DayRangeForm(QueryDict(query))


def test_the_last_day_is_part_of_the_range():
    days = form("first=2026-03-01&last=2026-03-02")
    assert days.start() == datetime(2026, 3, 1, tzinfo=UTC)
    assert days.end() == datetime(2026, 3, 3, tzinfo=UTC)
    assert days.is_used


@pytest.mark.parametrize("query", ["", "first=&last=", "first=never&last=2026-99-01"])
def test_days_that_are_empty_or_invalid_are_no_limit(query):
    days = form(query)
    assert (days.start(), days.end(), days.is_used) == (None, None, False)


def test_days_in_the_wrong_order_are_refused():
    days = form("first=2026-03-02&last=2026-03-01")
    assert days.errors == {"last": ["The last day is before the first one."]}


def test_usual_ranges_keep_the_other_filters_and_begin_at_the_first_page():
    table = Table(
        QueryDict("user=ann&page=3"), [Column("at", "Time", lambda row: row)], "-at"
    ).show([], str)
    today, yesterday, week = day_links(table)
    assert all("user=ann" in each["url"] and "page" not in each["url"] for each in (today, week))
    chosen = QueryDict(yesterday["url"].removeprefix("?"))
    table = Table(chosen, [Column("at", "Time", lambda row: row)], "-at").show([], str)
    assert [each["active"] for each in day_links(table)] == [False, True, False]
