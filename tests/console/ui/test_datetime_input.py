from datetime import UTC, datetime

import pytest

from console.ui.datetime_input import DateTimeInput, milliseconds_of

AT = datetime(2026, 11, 27, 10, 0, 0, 125_000, tzinfo=UTC)


@pytest.mark.parametrize(
    ("has_milliseconds", "text"),
    [(True, "2026-11-27T10:00:00.125"), (False, "2026-11-27T10:00:00")],
)
def test_a_moment_has_milliseconds_where_they_are_wanted(has_milliseconds, text):
    assert DateTimeInput(milliseconds=has_milliseconds).format_value(AT) == text


def test_a_moment_is_milliseconds_since_1970():
    assert milliseconds_of(AT) == 1_795_773_600_125
    assert milliseconds_of(None) is None
