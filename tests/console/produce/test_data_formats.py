"""Keys, values and headers as typed, and back."""

import pytest

from console.produce import data_formats
from console.produce.data_formats import InvalidData, as_text, headers_as_text, parse, parse_headers


@pytest.mark.parametrize(
    ("text", "data_format", "data"),
    [
        ("a\r\nb", "text", b"a\nb"),
        (" ", "text", b" "),
        ('{"a": 1.10}', "json", b'{"a": 1.10}'),
        ("AAH/\n", "base64", b"\x00\x01\xff"),
        ("00 01\nFF", "hex", b"\x00\x01\xff"),
        ("", "empty", b""),
        ("", "null", None),
    ],
)
def test_a_text_becomes_the_bytes_of_its_format(text, data_format, data):
    assert parse(text, data_format) == data


@pytest.mark.parametrize(
    ("text", "data_format", "why"),
    [
        ('{"a": }', "json", "line 1, column 7"),
        ("[" * 100_000, "json", "nested"),
        ("1" * 5000, "json", "not valid JSON: NaN, Infinity, or a number that is too large"),
        ("[NaN]", "json", "not valid JSON: NaN, Infinity"),
        ("A", "base64", "base64"),
        ("0", "hex", "two digits"),
        ("\ud800", "text", "UTF-8"),
    ],
)
def test_what_is_no_data_of_its_format_is_refused_with_the_reason(text, data_format, why):
    with pytest.raises(InvalidData, match=why):
        parse(text, data_format)


@pytest.mark.parametrize(
    "data", [None, b"", b"text\nand\ttabs", "Grüße".encode(), b"\x00\x01", b"\xff", b"a\rb"]
)
def test_data_written_to_a_form_comes_back_unchanged(data):
    text, data_format = as_text(data)
    assert parse(text.replace("\n", "\r\n"), data_format) == data


def test_headers_come_back_unchanged():
    headers = (
        ("trace", b"1"), ("trace", b"a: b"), ("none", None), ("empty", b""),
        ("binary", b"\x00\xff"), ("marked", b"base64:AAE="), ("marked", b"null:"),
        ("lines", b"a\nb"), ("space", b" a"),
    )  # fmt: skip
    assert parse_headers(headers_as_text(headers)) == headers
    assert data_formats.form_can_hold_headers(headers)
    for name in ("a:b", "a\nb", " a"):
        assert not data_formats.form_can_hold_headers(((name, b"1"),))


def test_a_wrong_header_line_is_named():
    with pytest.raises(InvalidData, match="Line 3 is not"):
        parse_headers("a: 1\n\nno colon")
    with pytest.raises(InvalidData, match="Line 1: It is not valid hex"):
        parse_headers("a: hex:0")
    with pytest.raises(InvalidData, match="at most 100"):
        parse_headers("a: 1\n" * 101)
