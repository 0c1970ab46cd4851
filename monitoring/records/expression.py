"""An expression in CEL over the variable `record`, compiled for many records. Pure.

Most of the time of an evaluation goes into the conversion of `record`. So only the fields that the
expression names are converted: of 20,000 records of 160 bytes, 5 µs each instead of 22.
"""

import json
import re
from collections.abc import Callable
from typing import Any

import cel
import orjson

from monitoring.gateway.records import RecordRow

# A string, or `record` with the path behind it.
_TOKEN = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|(?<![\w.])record\b((?:\.\w+)*)(\[?)")
_TEXT = r'"(?P<{}>[\w .:/@=+-]+)"'
_PATH = r"record(?:\.\w+|\[\"[^\"\\]+\"\])+"
# Texts that JSON never escapes, unless it escapes all characters.
_NEEDS_TEXT = re.compile(
    rf"{_PATH}\.contains\({_TEXT.format('part')}\)|{_PATH} ?== ?{_TEXT.format('whole')}"
)
_JSON_ESCAPE = b"\\u"
# The first error in a message of the library: "ERROR: <input>:1:17: Syntax error: mismatched …".
_ERROR = re.compile(r"ERROR: <input>:\d+:(\d+): (?:Syntax error: )?(.*)")
_UNEXPECTED = re.compile(
    r"(?:mismatched|extraneous) input '(.*?)' expecting|(?:recognition error at:|at input) '(.*)'"
)
_MISSING = re.compile(r"missing (.+) at '")


class ExpressionInvalid(Exception):
    """The expression cannot be compiled; the message shows where it is wrong."""


class Expression:
    """See the module."""

    def __init__(self, source: str) -> None:
        """Raises ExpressionInvalid."""
        try:
            self._program = cel.compile(source)
        except ValueError as error:
            raise ExpressionInvalid(_described(str(error))) from error
        self.texts = _required_texts(source)
        names, self._value_names = _used_fields(source)
        self._fields = {
            name: read for name, read in _FIELDS.items() if names is None or name in names
        }

    def accepts(self, row: RecordRow) -> bool:
        """Whether the expression is true. Raises KeyError, TypeError, ValueError, RuntimeError or
        OverflowError if it fails on this record."""
        record = {name: read(row) for name, read in self._fields.items()}
        value, wanted = record.get("value"), self._value_names
        if wanted is not None and isinstance(value, dict):
            record["value"] = {name: value[name] for name in wanted if name in value}
        return self._program.execute({"record": record}) is True


def _described(message: str) -> str:
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


def _used_fields(source: str) -> tuple[set[str] | None, set[str] | None]:
    """The fields of `record`, and those of a JSON value, that an expression uses; None = all."""
    names: set[str] | None = set()
    value_names: set[str] | None = set()
    for token in _TOKEN.finditer(source):
        if token[1] is None:
            continue
        path = token[1].split(".")[1:]
        if not path:
            return None, None
        if names is not None:
            names.add(path[0])
        if path[0] == "value":
            if len(path) == 1:
                value_names = None
            elif value_names is not None:
                value_names.add(path[1])
    return names, value_names


def _required_texts(source: str) -> tuple[bytes, ...]:
    """Texts of which a matching record contains at least one; empty = none is known."""
    for part in _conjuncts(source):
        found = _NEEDS_TEXT.fullmatch(part.strip())
        if found:
            return ((found["part"] or found["whole"]).encode(), _JSON_ESCAPE)
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


def _parsed(data: bytes | None) -> Any:
    """JSON where it is JSON, else the text; null = None."""
    if data is None:
        return None
    if data[:1] in b'{["-0123456789tfn':
        for loads in (orjson.loads, json.loads):  # orjson refuses integers beyond 64 bits
            try:
                return loads(data)
            except (ValueError, RecursionError):
                continue
    return _text(data)


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode(errors="replace")


_FIELDS: dict[str, Callable[[RecordRow], Any]] = {
    "partition": lambda row: row.partition,
    "offset": lambda row: row.offset,
    "timestampMs": lambda row: row.timestamp_ms,
    "key": lambda row: _parsed(row.key),
    "value": lambda row: _parsed(row.value),
    "keyAsText": lambda row: _text(row.key),
    "valueAsText": lambda row: _text(row.value),
    "headers": lambda row: {name: _text(value) for name, value in row.headers},
}
FIELD_NAMES = tuple(_FIELDS)
