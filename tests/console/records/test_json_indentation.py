import pytest

from console.records.json_indentation import indented


@pytest.mark.parametrize("literal", ["1.10", "1e400", "12345678901234567.89", "-0", "1E5"])
def test_a_number_is_shown_as_it_was_sent(literal):
    assert indented(f'{{"price": {literal}}}', 100) == f'{{\n  "price": {literal}\n}}'


def test_both_members_of_one_name_are_shown():
    assert indented('{"a":1,"a":2}', 100) == '{\n  "a": 1,\n  "a": 2\n}'


def test_escaped_characters_are_shown_unescaped():
    shown = indented(r'["\u00e9", "\u00e9\ud800"]', 100)
    assert shown == '[\n  "é",\n  "\\u00e9\\ud800"\n]'


def test_json_within_json_keeps_its_shape():
    assert indented('{"a":[],"b":{},"c":[{"d":null}, true]}', 1000) == (
        '{\n  "a": [],\n  "b": {},\n  "c": [\n    {\n      "d": null\n    },\n    true\n  ]\n}'
    )


def test_deep_json_is_cut_after_the_wanted_characters():
    shown = indented("[" * 500 + "1," * 200_000 + "1" + "]" * 500, 1000)
    assert 1000 < len(shown) < 10_000


def test_short_text_is_complete_though_its_escapes_are_long():
    shown = indented(r'["' + r"\u0041" * 60 + '", "end"]', 100)
    assert shown.endswith('"end"\n]')


def test_a_lone_surrogate_in_json_can_be_shown():
    shown = indented('{"a":"\\ud800","b":"ö"}', 100)
    assert shown.encode()
    assert "\\ud800" in shown


@pytest.mark.parametrize("text", ["12", '"a"', "{", '{"a":'])
def test_what_is_no_object_or_list_is_not_indented(text):
    assert indented(text, 100) is None
