import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.records.shown_data import HEX_BYTES_MAX, SHOWN_CHARS_MAX, decode, whole_text


def test_null_and_empty_are_distinguished():
    assert decode(None).kind == "null"
    assert decode(b"").kind == "empty"


def test_json_is_indented():
    shown = decode(b'{"b":1,"a":[true]}')
    assert shown.kind == "json"
    assert shown.text.startswith('{\n  "b": 1')


def test_text_stays_text_and_letters_of_any_alphabet_are_shown():
    assert decode("größe 尺寸".encode()).text == "größe 尺寸"
    assert decode(b"12").kind == "text"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\tb", "a\tb"),
        ("👩\u200d💻", "👩\u200d💻"),
        ("\x1b[31mred\x1b[0m", "\\u001B[31mred\\u001B[0m"),
        ("user\u202etxt.exe", "user\\u202Etxt.exe"),
    ],
)
def test_text_with_a_few_controls_and_joiners_is_text_in_which_they_are_visible(text, shown):
    found = decode(text.encode())
    assert (found.kind, found.text, found.preview) == ("text", shown, " ".join(shown.split()))


def test_broken_json_is_shown_as_the_text_it_is():
    assert decode(b'{"a":').kind == "text"


def test_a_binary_number_is_a_number_though_it_is_valid_utf8():
    shown = decode(b"\x00\x00\x00\x2a")
    assert (shown.kind, shown.text, shown.encoding_name) == ("text", "42", "Integer, 32 bits")
    assert whole_text(b"\x00\x00\x00\x2a") == "42"


def test_a_text_with_a_zero_byte_inside_is_shown_as_text():
    shown = decode(b"orders\x00eu-west-1")
    assert (shown.kind, shown.text) == ("text", "orders\\u0000eu-west-1")


def test_binary_data_that_begin_as_a_schema_registry_writes_name_the_schema():
    shown = decode(b"\x00\x00\x00\x00\x07\x0corders\x02")
    assert (shown.kind, shown.possible_schema_id) == ("hex", 7)
    assert decode(b"\xff\xfe\x01\xff\xfe").possible_schema_id is None


def test_what_is_not_recognized_is_shown_in_hex():
    shown = decode(b"\x00\x01\x02")
    assert (shown.kind, shown.text) == ("hex", "0001 02")
    assert decode(b"\x00\x00\x00\x2a", "hex").text == "0000 002a"


def test_an_encoding_that_is_recognized_is_named():
    shown = decode(b"\x82\xa1a\x01\xa1b\x02")
    assert (shown.kind, shown.preview, shown.encoding_name) == (
        "json",
        '{"a": 1, "b": 2}',
        "MessagePack",
    )


def test_long_data_is_truncated_and_keeps_its_full_size():
    shown = decode(b"x" * (SHOWN_CHARS_MAX + 1))
    assert (len(shown.text), shown.is_truncated) == (SHOWN_CHARS_MAX, True)
    assert shown.size_bytes == SHOWN_CHARS_MAX + 1
    assert decode(b"\xff" * (HEX_BYTES_MAX + 1)).is_truncated


def test_deep_json_is_truncated_where_it_is_indented():
    deep = decode(b"[" * 500 + b"1," * 200_000 + b"1" + b"]" * 500)
    assert (deep.kind, deep.is_truncated) == ("json", True)


@given(st.binary(max_size=200))
def test_decoding_never_fails(data):
    assert decode(data).size_bytes == len(data)
