import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitoring.gateway.record_row import RecordRow
from monitoring.records.filters import Condition, FilterInvalid, RecordFilter

ROW = RecordRow(2, 7, 1000, b"key-1", b'{"level": "error", "n": 5}', (("trace", b"abc"),))


def accepts(field: str, operator: str, text: str, row: RecordRow = ROW) -> bool:
    return RecordFilter([Condition(field, operator, text)]).accepts(row)


@pytest.mark.parametrize(
    ("field", "text"),
    [("key", "key"), ("value", '"error"'), ("header_name", "tra"), ("header_value", "abc")],
)
def test_a_condition_looks_into_its_field_only(field, text):
    assert accepts(field, "contains", text)
    others = {"key", "value", "header_name", "header_value"} - {field}
    assert not any(accepts(other, "contains", text) for other in others)


def test_any_field_is_key_value_or_value_of_a_header():
    for text in ("key-1", "level", "abc"):
        assert accepts("any", "contains", text)


def test_operators():
    assert accepts("key", "equals", "key-1")
    assert not accepts("key", "equals", "key")
    assert accepts("key", "not_contains", "value")
    assert not accepts("key", "not_contains", "key")
    assert accepts("key", "matches", "^key-[0-9]$")
    assert not accepts("key", "matches", "^key$")


def test_a_null_contains_nothing():
    empty = RecordRow(0, 0, None, None, None, ())
    assert not accepts("value", "contains", "a", empty)
    assert accepts("value", "not_contains", "a", empty)


def test_all_conditions_and_the_expression_must_hold():
    condition = Condition("key", "contains", "key")
    assert RecordFilter([condition], "record.value.n > 4").accepts(ROW)
    assert not RecordFilter([condition], "record.value.n > 5").accepts(ROW)
    assert RecordFilter().accepts(ROW)


def test_a_pattern_that_backtracking_engines_never_finish_is_quick():
    row = RecordRow(0, 0, None, None, b"a" * 50_000, ())
    assert not accepts("value", "matches", "(a+)+$b", row)


@pytest.mark.parametrize("pattern", ["(", "[a", "a{2,1}", "(?=a)"])
def test_an_invalid_pattern_is_a_clear_error(pattern):
    with pytest.raises(FilterInvalid, match="regular expression is not valid"):
        RecordFilter([Condition("value", "matches", pattern)])


@pytest.mark.parametrize(
    ("expression", "error"),
    [
        ("record.offset >", "Column 16: the expression ends too early."),
        ("record.offset = 5", "Column 15: “=” is not expected here."),
        ("record.key == 'abc", "Column 15: “'abc” is not expected here."),
        ("((record.offset == 1)", "Column 22: ')' is missing."),
    ],
)
def test_an_invalid_expression_is_an_error_with_its_column(expression, error):
    with pytest.raises(FilterInvalid) as raised:
        RecordFilter(expression=expression)
    assert str(raised.value) == error


def test_an_unknown_field_or_an_empty_text_is_an_error():
    for condition in (Condition("x", "contains", "a"), Condition("key", "contains", "")):
        with pytest.raises(FilterInvalid):
            RecordFilter([condition])


def test_an_expression_that_fails_on_a_record_names_it_and_counts_the_rest():
    record_filter = RecordFilter(expression="record.value.missing == 1")
    assert [record_filter.accepts(ROW) for _ in range(3)] == [False] * 3
    assert record_filter.failures == 3
    assert record_filter.first_failure == "partition 2, offset 7: no field 'missing'"


@pytest.mark.parametrize(
    ("conditions", "expression", "text"),
    [
        ([Condition("key", "contains", "abc")], "", b"abc"),
        ([Condition("key", "equals", "abc")], "", b"abc"),
        ([Condition("key", "matches", "ab+c")], "", b"abbc"),
        ([], 'record.value.level == "error" && record.value.n > 1', b"error"),
        ([], 'record.valueAsText.contains("erro")', b"erro"),
    ],
)
def test_a_text_that_a_match_needs_is_searched_for_in_the_bytes(conditions, expression, text):
    prefilter = RecordFilter(conditions, expression).prefilter
    assert prefilter is not None
    assert prefilter(b"x" * 10 + text)(0) == 10
    assert prefilter(b"x" * 10)(0) == -1


@pytest.mark.parametrize(
    "expression",
    [
        'record.value.level == "error" || record.value.n > 1',
        '!(record.value.level == "error")',
        'record.value.level != "error"',
        'record.value.n > 1 ? record.value.level == "error" : true',
        'record.value.level == "na\\u00efve"',
        'record.value.level == ""',
    ],
)
def test_an_expression_that_needs_no_text_reads_every_record(expression):
    assert RecordFilter(expression=expression).prefilter is None


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (b'{"level": "\\u0065rror"}', "error"),
        (b'{"level": "a\\/b"}', "a/b"),
        (b'{"level": "a\\u002fb"}', "a/b"),
    ],
)
def test_json_that_escapes_its_characters_is_found_too(value, text):
    assert json.loads(value) == {"level": text}
    record_filter = RecordFilter(expression=f'record.value.level == "{text}"')
    assert record_filter.prefilter is not None
    assert record_filter.prefilter(value)(0) >= 0
    assert record_filter.accepts(RecordRow(0, 0, None, None, value, ()))


@given(st.text("er\\u", max_size=30).map(str.encode), st.lists(st.integers(0, 30), max_size=9))
def test_the_next_place_is_that_of_the_text_or_of_an_escape(data, starts):
    find = RecordFilter(expression='record.value == "er"').prefilter(data)
    for start in sorted(starts):
        places = [at for at in (data.find(b"er", start), data.find(b"\\u", start)) if at >= 0]
        assert find(start) == min(places, default=-1)


@pytest.mark.parametrize(
    "expression",
    [
        'record.value["level"] == "error"',
        "size(record.value) == 2",
        "has(record.value.n)",
        "record.partition == 2 && record.offset == 7 && record.timestampMs == 1000",
        'record.headers["trace"] == "abc"',
        'record.keyAsText.startsWith("key") && record.key == "key-1"',
        'record.valueAsText.matches("err.r")',
        '[record].all(each, each.value.level == "error")',
    ],
)
def test_fields_of_a_record(expression):
    assert RecordFilter(expression=expression).accepts(ROW)


def test_integers_beyond_64_bits_leave_the_other_fields_readable():
    row = RecordRow(0, 0, None, None, b'{"a": 123456789012345678901234567890, "b": 1}', ())
    assert RecordFilter(expression="record.value.b == 1").accepts(row)
