"""A rewritten expression gives what the library gives for the whole record."""

import json

import cel
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from monitoring.gateway.record_row import RecordRow
from monitoring.records.cel_expression import EVALUATION_ERRORS, Expression, ExpressionInvalid

NAMES = st.sampled_from(["a", "b", "record", "size", "has"])
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.integers(-(2**63), 2**63 - 1),
    st.sampled_from([0.0, 1.0, -0.5, 1e300]),
    st.sampled_from(["", "a", "1", "true", "é"]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
FULL = {"a": 1, "b": {"a": "a", "b": None}, "record": [1], "size": 1.0, "has": True}
FIELDS = st.sampled_from(
    ["value", "value", "value", "value", "key", "headers", "keyAsText", "offset", "nope"]
)
STEPS = st.one_of(NAMES.map(".{}".format), NAMES.map('["{}"]'.format))
PATHS = st.tuples(FIELDS, st.lists(STEPS, max_size=3)).map(
    lambda at: f"record.{at[0]}{''.join(at[1])}"
)
OPERANDS = st.one_of(
    PATHS,
    PATHS,
    NAMES.flatmap(lambda name: PATHS.map(lambda path: f"{path}.{name}")).map("has({})".format),
    st.sampled_from(
        ["1", "0", "-1", "1u", "1.0", '"a"', "'a'", "true", "null", '"record.value.a"', "[1]"]
    ),
)
CALLS = [
    "{}.size() > 1",
    "size({}) == 1",
    '{}.contains("a")',
    '{}.startsWith("a")',
    "{}.exists(x, x == 1)",
    "{}.all(x, x == record.value.a)",
    "!{}",
    "type({}) == int",
    "string({}) == '1'",
]


def of_parts(operand: st.SearchStrategy[str], operators: str) -> st.SearchStrategy[str]:
    """Expressions of one to three operands."""
    two = st.tuples(operand, st.sampled_from(operators.split()), operand)
    return st.one_of(
        two.map(lambda parts: "({} {} {})".format(*parts)),
        st.tuples(operand, operand, operand).map(lambda parts: "({} ? {} : {})".format(*parts)),
        st.tuples(operand, st.sampled_from(CALLS)).map(
            lambda parts: f"({parts[1]})".format(parts[0])
        ),
    )


# Some with any operand, which mostly fail, and some that are mostly true or false.
EXPRESSIONS = st.recursive(
    OPERANDS, lambda inner: of_parts(inner, "== != < <= > >= && || + - * / % in"), max_leaves=6
) | st.recursive(
    of_parts(OPERANDS, "== == !="), lambda inner: of_parts(inner, "&& || == !="), max_leaves=4
)


def row_of(value: object, key: object = None) -> RecordRow:
    headers = (("a", b"1"), ("b", None))
    return RecordRow(
        1,
        2,
        1000,
        None if key is None else json.dumps(key).encode(),
        json.dumps(value).encode(),
        headers,
    )


def of_the_library(source: str, row: RecordRow) -> str:
    record = {
        "partition": row.partition,
        "offset": row.offset,
        "timestampMs": row.timestamp_ms,
        "key": None if row.key is None else json.loads(row.key),
        "value": json.loads(row.value or b"null"),
        "keyAsText": None if row.key is None else row.key.decode(),
        "valueAsText": (row.value or b"").decode(),
        "headers": {name: None if value is None else value.decode() for name, value in row.headers},
    }
    try:
        found = cel.compile(source).execute({"record": record})
        return str(found) if isinstance(found, bool) else "no condition"
    except EVALUATION_ERRORS as error:
        return f"no field {error}" if isinstance(error, KeyError) else str(error)


def of_this(source: str, row: RecordRow) -> str:
    try:
        expression = Expression(source)
    except ExpressionInvalid:  # a constant, or `record.value` alone
        return of_the_library(source, row)
    try:
        return str(expression.accepts(row))
    except EVALUATION_ERRORS:
        why = expression.failure(row)
        return "no condition" if "not true or false" in why else why


@given(EXPRESSIONS, st.just(FULL) | VALUES, st.none() | st.just(FULL) | VALUES)
@example("record.value.a == 1 || true", {}, None)
@example("has(record.value.a.b)", {"a": 1}, None)
@example("record.value.size() == 1", {"size": 1}, None)
@example('record.value["a"].b == 1', {"a": {"b": 1}}, None)
def test_an_expression_is_true_false_or_fails_as_the_library_says(source, value, key):
    row = row_of(value, key)
    assert of_this(source, row) == of_the_library(source, row)


@pytest.mark.parametrize(
    "source",
    [
        '"record.value.a" == record.value.s',
        "'a\\'record.value.a' != record.value.s",
        '"""a "record.value.a""" != record.value.s',
        "record.value.a == 1 // || record.value.s",
        "[2].exists(record, record == 2)",
        "[record].exists(each, each.value.a == 1)",
        "[{'record': {'value': 7}}].exists(each, each . record.value == 7)",
        "[1].exists(record_0, record_0 == record.value.a)",
        "has(record.value) && !has(record.nope)",
        "record.value.all(name, name != 'x')",
        "record.value.s.size () == 14",
        "size(record) == 8",
        'r"record.value.a" == record.value.s',
        'record["value"].a == 1 && record.value["a"] == 1',
        "{record.value.a: 2}[1] == 2",
        "record.value.a == 1 ? record.offset == 2 : record.value.nope",
    ],
)
def test_what_looks_like_a_path_is_one_only_where_it_is(source):
    row = row_of({"a": 1, "s": "record.value.a"})
    assert of_this(source, row) == of_the_library(source, row) == "True"


def test_fields_that_an_expression_does_not_name_are_not_converted():
    value = {"a": 1, "big": 10**30, "deep": {"b": 1, "big": 10**30}}
    assert of_this("record.value.a == record.value.deep.b", row_of(value)) == "True"


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("1", "gives a number, not true or false"),
        ("'a' + 'b'", "gives a text"),
        ("[1]", "gives a list"),
        ("record", "record is not true or false"),
        (" record.value ", "record.value is not true or false"),
        ("foo.bar", "Unknown name foo; use record"),
        ("record.value.all(x, y > 1)", "Unknown name y"),
        ("value.amount > 1", "Unknown name value"),
    ],
)
def test_what_can_be_true_for_no_record_is_refused_before_it_runs(source, why):
    with pytest.raises(ExpressionInvalid, match=why):
        Expression(source)


@pytest.mark.parametrize(
    "source",
    [
        "true", "type(record.value) == map", "[1].map(x, x + 1).exists(y, y > 1)",
        "record.value.flag", "math.greatest(1, 2) == record.offset",
    ],
)  # fmt: skip
def test_loop_variables_types_and_fields_are_known_names(source):
    Expression(source)


@pytest.mark.parametrize(
    ("value", "kind"),
    [({}, "a map"), ([], "a list"), (1, "a number"), ("x", "a text"), (None, "null")],
)
def test_a_result_that_is_no_boolean_is_a_failure_on_its_record(value, kind):
    row = row_of({"a": value})
    expression = Expression("record.value.a")
    with pytest.raises(EVALUATION_ERRORS):
        expression.accepts(row)
    assert expression.failure(row) == f"the expression gives {kind}, not true or false"
    assert expression.accepts(row_of({"a": True}))
    assert not expression.accepts(row_of({"a": False}))
