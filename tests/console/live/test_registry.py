"""What a browser says that it shows, and what the server makes of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.live import registry
from console.live.registry import FragmentKey


@pytest.mark.parametrize(
    ("show", "text"),
    [
        (FragmentKey("dashboard"), "dashboard"),
        (FragmentKey("topics", "", (("q", "a b"), ("sort", "-rate"))), "topics?q=a+b&sort=-rate"),
        (FragmentKey("group", "team a/b?c=:d"), "group:team%20a%2Fb%3Fc%3D%3Ad"),
        (FragmentKey("topic", "orders", (("page", "2"),)), "topic:orders?page=2"),
    ],
)
def test_a_fragment_key_is_formatted_and_parsed(show, text):
    assert str(show) == text
    assert registry.parse(text) == show


def test_only_the_parameters_count_that_the_fragment_reads_in_one_order():
    one = registry.parse("topics?page=2&theme=dark&q=ord&sort=")
    assert one == registry.parse("topics?q=ord&page=2")
    assert str(one) == "topics?q=ord&page=2"


def test_a_page_and_its_socket_cut_a_long_value_alike():
    key = registry.fragment_key("topics", query={"q": "ü" * 5000})
    assert registry.parse(str(key)) == key


@pytest.mark.parametrize("text", ["", "unknown", "../x", "group:" + "g" * 5000, ":", "?q=1"])
def test_an_unknown_fragment_is_parsed_as_none(text):
    assert registry.parse(text) is None


@given(st.text(max_size=80))
def test_parsing_never_raises(text):
    for name in ("", "topics?", "group:"):
        registry.parse(name + text)
