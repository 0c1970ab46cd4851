"""An expression in CEL over the variable `record`, compiled for many records. Pure.

Most of the time of an evaluation goes into the conversion of its variables: 2 µs for each object.
So the expression is rewritten: each path such as `record.value.user.name` becomes a variable of its
own with the value that is there, and `has(record.value.user)` one with true or false. Where a
record has nothing at a path, its variable is left undefined: an error, as a missing field is. So a
record takes 2.1 µs instead of 10.5. An expression that might mean something else when rewritten
(`_Rewriting`) gets the whole record.
"""

import contextlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import cel
import orjson

from monitoring.gateway.record_row import RecordRow

# A path ends before a function: `.size()`.
_STEPS = r"((?:\.\w+(?!\w|\s*\()|\[\"[^\"\\]*\"\])*)"
_STEP = re.compile(r"\.(\w+)|\[\"([^\"]*)\"\]")
# A text, a test or value of a path, a name or number, a comment, anything else.
_TOKEN = re.compile(
    rf"\"[^\"]*\"|'[^']*'|has\(\s*record{_STEPS}\s*\)|record\b{_STEPS}|\w+|//|.", re.DOTALL
)
_VARIABLE = "record_"
# In an expression with these, a text may not end where _TOKEN ends it, or a variable is taken.
_NOT_REWRITTEN = ("\\", '"""', "'''", _VARIABLE)
_TEXT = r'"(?P<{}>[\w .:/@=+-]+)"'
_PATH = r"record(?:\.\w+|\[\"[^\"\\]+\"\])+"
# Conditions that need a text in the record. JSON has the text as it is, unless all characters or
# slashes are escaped.
_NEEDS_TEXT = re.compile(
    rf"{_PATH}\.contains\({_TEXT.format('part')}\)|{_PATH} ?== ?{_TEXT.format('whole')}"
)
_JSON_ESCAPE, _ESCAPED_SLASH = b"\\u", b"\\/"
_JSON_STARTS = frozenset(b'{["-0123456789tfn')
# The first error in a message of the library: "ERROR: <input>:1:17: Syntax error: mismatched …".
_ERROR = re.compile(r"ERROR: <input>:\d+:(\d+): (?:Syntax error: )?(.*)")
_UNEXPECTED = re.compile(
    r"(?:mismatched|extraneous) input '(.*?)' expecting|(?:recognition error at:|at input) '(.*)'"
)
_MISSING = re.compile(r"missing (.+) at '")
# A loop and its variables; besides them an expression may name `record`, types and namespaces.
_LOOP = re.compile(
    r"\.\s*(?:all|exists|exists_one|existsOne|map|filter|bind)"
    r"\s*\(\s*(\w+)\s*,(?:\s*(\w+)\s*,)?"
)
_NAMES = {
    "record", "bool", "bytes", "double", "int", "list", "map", "null_type", "string", "type",
    "uint", "cel", "math", "optional",
}  # fmt: skip
# A part of a record by itself: in no record, or not in all of them, a boolean.
_NOT_BOOLEAN = re.compile(r"record(?:\.\w+)?")
_KINDS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (dict, "a map"), (list, "a list"), (str, "a text"), ((int, float), "a number"),
    (type(None), "null"), (bytes, "bytes"),
)  # fmt: skip

EVALUATION_ERRORS = (KeyError, TypeError, ValueError, RuntimeError, ArithmeticError)


class ExpressionInvalid(Exception):
    """The expression cannot be compiled; the message shows where it is wrong."""


class _Path(NamedTuple):
    """A variable: the value at the end of `steps` or, with `member`, whether it has this member."""

    variable: str
    steps: tuple[str, ...]
    member: str | None


class Expression:
    """A compiled expression; `accepts` evaluates it for a record."""

    def __init__(self, source: str) -> None:
        """Raises ExpressionInvalid."""
        try:
            self._original = cel.compile(source)
        except ValueError as error:
            raise ExpressionInvalid(_error_text(str(error))) from error
        _check(self._original, source)
        self.texts = _required_texts(source)
        self._execute = self._original.execute
        self._variables: Callable[[RecordRow], dict[str, Any]] = _record_variables
        rewriting = _Rewriting()
        with contextlib.suppress(ValueError):
            self._execute = cel.compile(rewriting.rewritten(source)).execute
            self._variables = _variables_at_paths(rewriting.paths)

    def accepts(self, row: RecordRow) -> bool:
        """Whether the expression is true. Raises one of EVALUATION_ERRORS if it fails on this
        record."""
        found = self._execute(self._variables(row))
        if found is not True and found is not False:
            raise TypeError(_not_boolean(found))
        return found

    def failure(self, row: RecordRow) -> str:
        """Why `accepts` fails on a record, in the names that the expression has."""
        try:
            found = self._original.execute(_record_variables(row))
        except KeyError as error:
            return f"no field {error}"
        except EVALUATION_ERRORS as error:
            return str(error)
        return "" if isinstance(found, bool) else _not_boolean(found)


def _check(program: cel.Program, source: str) -> None:
    """Raises ExpressionInvalid if it is an error whatever the record is."""
    loops = {name for names in _LOOP.findall(source) for name in names if name}
    names = program.variables()
    for name in sorted(set(names) - loops - _NAMES):
        raise ExpressionInvalid(
            f"Unknown name {name}; use record, for example record.value.amount."
        )
    if _NOT_BOOLEAN.fullmatch(source.strip()):
        raise ExpressionInvalid(
            f"{source.strip()} is not true or false. Compare it, for example with =="
        )
    if names or loops:  # loops can take long
        return
    with contextlib.suppress(*EVALUATION_ERRORS):
        found = program.execute({})
        if not isinstance(found, bool):
            raise ExpressionInvalid(f"{_not_boolean(found).capitalize()}.")


def _not_boolean(found: object) -> str:
    kind = next((name for kind, name in _KINDS if isinstance(found, kind)), "something else")
    return f"the expression gives {kind}, not true or false"


def _error_text(message: str) -> str:
    """The first error of the library's message with its column, without the grammar's terms."""
    error = _ERROR.search(message)
    if error is None:
        return message
    column, detail = error.groups()
    if unexpected := _UNEXPECTED.search(detail):
        token = (unexpected[1] or unexpected[2] or "").strip()
        ends = token == "<EOF>"
        detail = "the expression ends too early" if ends else f"“{token}” is not expected here"
    elif missing := _MISSING.search(detail):
        detail = f"{missing[1]} is missing"
    return f"Column {column}: {detail}."


class _Rewriting:
    """An expression with variables in place of paths."""

    def __init__(self) -> None:
        self.paths: dict[str, list[_Path]] = {}  # field of the record → paths from there
        self._variables: dict[str, str] = {}  # what was replaced → by what

    def rewritten(self, source: str) -> str:
        """Raises ValueError if it is not known to mean the same."""
        if any(each in source for each in _NOT_REWRITTEN):
            raise ValueError("has texts that may end elsewhere, or such variables")
        return _TOKEN.sub(self._replaced, source)

    def _replaced(self, token: re.Match[str]) -> str:
        tested, taken = token.groups()
        if tested is None and taken is None:
            if token[0] == "//":
                raise ValueError("has a comment")
            return token[0]
        steps = [name or text for name, text in _STEP.findall(tested or taken or "")]
        field = steps.pop(0) if steps else ""
        if not field or token.string[: token.start()].rstrip().endswith("."):
            raise ValueError("uses the record as a whole, or another one")
        if tested is not None and not steps:
            return "true" if field in _FIELDS else "false"
        if token[0] not in self._variables:
            variable = self._variables[token[0]] = f"{_VARIABLE}{len(self._variables)}"
            member = steps.pop() if tested is not None else None
            if field in _FIELDS:
                self.paths.setdefault(field, []).append(_Path(variable, tuple(steps), member))
        return self._variables[token[0]]


def _variables_at_paths(
    fields: Mapping[str, Sequence[_Path]],
) -> Callable[[RecordRow], dict[str, Any]]:
    """A function from a record to the variables of a rewritten expression.

    A variable is missing if the record has nothing at its path.
    """
    fields_read = [(_FIELDS[name], paths) for name, paths in fields.items()]

    def variables(row: RecordRow) -> dict[str, Any]:
        values = {}
        for read, paths in fields_read:
            field = read(row)
            for variable, steps, member in paths:
                found = field
                try:
                    for step in steps:
                        found = found[step]
                except (KeyError, TypeError):  # no such member, or no object
                    continue
                if member is None:
                    values[variable] = found
                elif isinstance(found, dict):
                    values[variable] = member in found
        return values

    return variables


def _record_variables(row: RecordRow) -> dict[str, Any]:
    return {"record": {name: read(row) for name, read in _FIELDS.items()}}


def _required_texts(source: str) -> tuple[bytes, ...]:
    """Texts of which a matching record contains at least one; empty = none is known."""
    for part in _conjuncts(source):
        found = _NEEDS_TEXT.fullmatch(part.strip())
        if found:
            text = found["part"] or found["whole"]
            return (text.encode(), _JSON_ESCAPE, *([_ESCAPED_SLASH] if "/" in text else []))
    return ()


def _conjuncts(source: str) -> list[str]:
    """The parts of `a && b && …`; empty if the expression has another form at the top level."""
    parts, start, depth, quote, at = [], 0, 0, "", 0
    while at < len(source):
        character = source[at]
        if quote:
            at += character == "\\"
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif depth == 0 and (character == "?" or source.startswith("||", at)):
            return []
        elif depth == 0 and source.startswith("&&", at):
            parts.append(source[start:at])
            start = at + 2
            at += 1
        at += 1
    return [*parts, source[start:]]


def _json_or_text(data: bytes | None) -> Any:
    """JSON where it is JSON, else the text; null = None."""
    if data and data[0] in _JSON_STARTS:
        try:
            return orjson.loads(data)
        except ValueError:
            pass
        with contextlib.suppress(ValueError, RecursionError):
            return json.loads(data)  # integers beyond 64 bits, which orjson refuses
    return _text(data)


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode(errors="replace")


_FIELDS: dict[str, Callable[[RecordRow], Any]] = {
    "partition": lambda row: row.partition,
    "offset": lambda row: row.offset,
    "timestampMs": lambda row: row.timestamp_ms,
    "key": lambda row: _json_or_text(row.key),
    "value": lambda row: _json_or_text(row.value),
    "keyAsText": lambda row: _text(row.key),
    "valueAsText": lambda row: _text(row.value),
    "headers": lambda row: {name: _text(value) for name, value in row.headers},
}
FIELD_NAMES = tuple(_FIELDS)
