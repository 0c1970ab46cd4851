"""Names that were replaced are found."""

import pytest

from tools.retired_words import find


def test_a_retired_name_is_found_with_its_line() -> None:
    assert list(find("from x import y\nHIDDEN_PREFIXES = ()\n")) == [(2, "HIDDEN_PREFIXES")]


@pytest.mark.parametrize(
    "text", ["ADMIN_ONLY_RECORDS", "MY_HIDDEN_PREFIXES", "Understanding", "stack.lock"]
)
def test_other_names_are_let_through(text: str) -> None:
    assert list(find(text)) == []


def test_some_words_are_retired_in_brokerd_only() -> None:
    text = "what a client is told"
    assert list(find(text, in_brokerd=True)) == [(1, "told")]
    assert list(find(text)) == []
