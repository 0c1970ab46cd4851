"""The filter of a search: conditions on one field each, and an expression in CEL. Pure.

Most records of a search do not match. So a filter has a `prefilter` that finds, in the bytes of a
whole batch, the next place that a matching record can contain (batch_scan.py). Regular expressions
are RE2's, whose time grows only linearly with the length of the text.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import re2

from monitoring.gateway.record_row import RecordRow
from monitoring.gateway.wire.batch_scan import Finder, Prefilter
from monitoring.records.cel_expression import EVALUATION_ERRORS, Expression, ExpressionInvalid

FIELDS = ("any", "key", "value", "header_name", "header_value")
OPERATORS = ("contains", "not_contains", "equals", "matches")
TEXT_LENGTH_MAX = 2_000
_PATTERN_BYTES_MAX = 1 << 20  # of memory for one compiled regular expression
_ASSERTIONS = ("^", "$", "\\b", "\\B", "\\A", "\\z", "(?")  # match by where a field begins or ends


class FilterInvalid(Exception):
    """A condition or an expression that cannot be evaluated; the message is for the user."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One field and what it must contain, equal or match."""

    field: str
    operator: str
    text: str


class RecordFilter:
    """All conditions, and the expression if there is one."""

    def __init__(self, conditions: Sequence[Condition] = (), expression: str = "") -> None:
        """Raises FilterInvalid."""
        self._conditions = [_predicate(condition) for condition in conditions]
        try:
            self._expression = Expression(expression) if expression.strip() else None
        except ExpressionInvalid as error:
            raise FilterInvalid(str(error)) from error
        self.prefilter = _prefilter(conditions, self._expression)
        self.failures = 0  # records for which the expression failed
        self.first_failure = ""

    def accepts(self, row: RecordRow) -> bool:
        """Whether a record matches; one on which the expression fails is counted and does not."""
        for condition in self._conditions:  # `all` of a generator takes 0.3 µs more
            if not condition(row):
                return False
        if self._expression is None:
            return True
        try:
            return self._expression.accepts(row)
        except EVALUATION_ERRORS:
            self.failures += 1
            if not self.first_failure:
                why = self._expression.failure(row)
                self.first_failure = f"partition {row.partition}, offset {row.offset}: {why}"
            return False


def _predicate(condition: Condition) -> Callable[[RecordRow], bool]:
    if condition.field not in FIELDS or condition.operator not in OPERATORS:
        raise FilterInvalid(f"{condition.field} {condition.operator} is not a condition.")
    if not 0 < len(condition.text) <= TEXT_LENGTH_MAX:
        raise FilterInvalid(f"A condition needs a text of 1 to {TEXT_LENGTH_MAX} characters.")
    values = _VALUES_OF_FIELD[condition.field]
    test = _value_test(condition)
    if condition.operator == "not_contains":
        return lambda row: not any(test(value) for value in values(row))
    return lambda row: any(test(value) for value in values(row))


def _value_test(condition: Condition) -> Callable[[bytes], bool]:
    text = condition.text.encode()
    if condition.operator in ("contains", "not_contains"):
        return lambda value: text in value
    if condition.operator == "equals":
        return lambda value: value == text
    search = _compile_pattern(condition.text).search
    return lambda value: search(value) is not None


def _compile_pattern(pattern: str) -> "re2._Regexp[bytes]":
    options = re2.Options()
    options.max_mem = _PATTERN_BYTES_MAX
    options.log_errors = False
    try:
        return re2.compile(pattern.encode(), options)
    except re2.error as error:
        why = error.args[0].decode() if isinstance(error.args[0], bytes) else error
        raise FilterInvalid(f"The regular expression is not valid: {why}") from error


def _prefilter(conditions: Sequence[Condition], expression: Expression | None) -> Prefilter | None:
    """The prefilter for these conditions; None = every record must be decoded."""
    for condition in conditions:
        if condition.operator in ("contains", "equals"):
            return _finder((condition.text.encode(),))
    for condition in conditions:
        has_assertion = any(each in condition.text for each in _ASSERTIONS)
        if condition.operator == "matches" and not has_assertion:
            return _pattern_finder(condition.text)
    if expression is not None and expression.texts:
        return _finder(expression.texts)
    return None


def _finder(texts: tuple[bytes, ...]) -> Prefilter:
    if len(texts) == 1:
        return lambda data: partial(data.find, texts[0])
    return lambda data: _any_text_finder(data, texts)


def _any_text_finder(data: bytes, texts: tuple[bytes, ...]) -> Finder:
    """Each text is searched for once, however many records contain another one: of 1,000 records
    of which 111 can match, 1.3 µs each instead of 9."""
    positions = dict.fromkeys(texts, -1)

    def find(start: int) -> int:
        for text, position in positions.items():
            if position < start:
                found = data.find(text, start)
                positions[text] = found if found >= 0 else len(data)
        nearest = min(positions.values())
        return nearest if nearest < len(data) else -1

    return find


def _pattern_finder(pattern: str) -> Prefilter:
    search = _compile_pattern(pattern).search

    def finder(data: bytes) -> Finder:
        def find(start: int) -> int:
            found = search(data, start)
            return -1 if found is None else found.start()

        return find

    return finder


def _any_value(row: RecordRow) -> list[bytes]:
    return (
        _VALUES_OF_FIELD["key"](row)
        + _VALUES_OF_FIELD["value"](row)
        + _VALUES_OF_FIELD["header_value"](row)
    )


_VALUES_OF_FIELD: dict[str, Callable[[RecordRow], list[bytes]]] = {
    "any": _any_value,
    "key": lambda row: [] if row.key is None else [row.key],
    "value": lambda row: [] if row.value is None else [row.value],
    "header_name": lambda row: [name.encode() for name, _value in row.headers],
    "header_value": lambda row: [value for _name, value in row.headers if value is not None],
}
