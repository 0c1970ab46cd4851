"""Java's ways where they show."""

import re

import pytest

from brokerd.cli.java_hash_order import hash_map_order
from brokerd.cli.java_text import fields, include_list, split
from brokerd.cli.options import CliError


def test_a_hash_map_gives_its_keys_in_the_order_of_their_buckets() -> None:
    # as `new HashMap<>(…).keySet()` prints them
    assert hash_map_order(["t1", "orders", "payments"]) == ["payments", "orders", "t1"]


def test_a_comma_in_a_topic_filter_means_or() -> None:
    pattern = include_list("'a, b.*'")
    assert [name for name in ("a", "b1", "ab") if pattern.fullmatch(name)] == ["a", "b1"]
    with pytest.raises(CliError, match="invalid regex"):
        include_list("(")


def test_a_text_is_split_as_by_a_pattern_of_java() -> None:
    # as `Arrays.toString(Pattern.compile(…).split(…))` prints it
    for pattern, text, parts in (
        (",", "a,b,,", ["a", "b"]),
        (",", ",a", ["", "a"]),
        (",", ",", []),
        (",", "", [""]),
        (",", "a", ["a"]),
        ("", "a:b", ["a", ":", "b"]),
        ("|", "ab", ["a", "b"]),
        ("", "", [""]),
        ("x*", "axxb", ["a", "", "b"]),
    ):
        assert split(re.compile(pattern), text) == parts, (pattern, text)


def test_a_separator_at_the_end_begins_no_field_and_one_in_between_does() -> None:
    assert fields("a,b,", ",") == fields("a,b,,", ",") == ["a", "b"]
    assert fields("a,,b", ",") == ["a", "", "b"]
    assert (fields(",", ","), fields("", ",")) == ([], [""])
    assert fields("a.b", ".") == ["a", "b"]
