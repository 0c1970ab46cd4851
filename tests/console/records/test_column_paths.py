"""Paths to fields, and what they find."""

import pytest

from console.records.column_paths import Fields, PathInvalid, TooManyPaths, parse

VALUE = '{"user": {"name": "Ann", "tags": ["a", "b"]}, "a.b": 1, "price": 1.10, "none": null}'


def found(text: str) -> list[str | None]:
    fields = Fields({"key": lambda: "k-1", "value": lambda: VALUE}, [("trace", "t1")])
    return [fields.text(path) for path in parse(text)]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("key", "k-1"),
        ("headers.trace", "t1"),
        ("headers.other", None),
        ("value.user.name", "Ann"),
        ("value.user.tags.1", "b"),
        ("value.user.tags.2", None),
        ("value.a.b", "1"),
        ("value.price", "1.10"),
        ("value.none", "null"),
        ("value.user", '{"name": "Ann", "tags": ["a", "b"]}'),
        ("value.missing", None),
        ("key.id", None),
    ],
)
def test_a_path_finds_a_field(path, text):
    assert found(path) == [text]


def test_paths_are_separated_by_commas_and_each_counts_once():
    assert list(map(str, parse(" key, value.a ,,key"))) == ["key", "value.a"]


@pytest.mark.parametrize("text", ["name", "value..a", "headers", "value." + "a" * 300])
def test_what_is_no_path_is_refused(text):
    with pytest.raises(PathInvalid):
        parse(text)


def test_too_many_paths_are_refused():
    with pytest.raises(TooManyPaths):
        parse(",".join(f"value.a{n}" for n in range(9)))
