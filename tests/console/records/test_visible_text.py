import json

import pytest

from console.records.visible_text import visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("user\u202etxt.exe", "user\\u202Etxt.exe"),
        ("a\u200bb", "a\\u200Bb"),
        ("\x1b[31m\x00", "\\u001B[31m\\u0000"),
        ("\U000e0041", "\\uDB40\\uDC41"),
        ("a\u200db", "a\\u200Db"),
    ],
)
def test_what_a_page_would_not_show_is_an_escape(text, shown):
    assert visible(text) == shown


@pytest.mark.parametrize("text", ["größe 尺寸", "a\tb\r\nc", "👩\u200d💻 ❤\ufe0f\u200d🔥", "שלום"])
def test_letters_spaces_and_emoji_stay(text):
    assert visible(text) == text


def test_json_keeps_its_values():
    text = '{"a": "\u202e\U000e0041"}'
    assert json.loads(visible(text)) == json.loads(text)
