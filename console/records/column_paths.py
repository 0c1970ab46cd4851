"""Paths to fields of records, which users choose as columns. Pure.

key, value, headers.NAME       the whole part
key.id, value.user.name        a member of a JSON object; a name can contain dots
value.items.0.price            an element of a JSON list, by its index
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

PATHS_MAX, PATH_LENGTH_MAX = 8, 200
TEXT_LENGTH_MAX = 300  # characters of a field's text
_PARTS = ("key", "value", "headers")


class PathInvalid(ValueError):
    """A text that is not the path of a field; `args[0]` is the text."""


class TooManyPaths(ValueError):
    """More than PATHS_MAX paths."""


@dataclass(frozen=True, slots=True)
class FieldPath:
    """`part` is key, value or headers; `names` lead from it to the field."""

    part: str
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        return ".".join((self.part, *self.names))


def parse(text: str) -> tuple[FieldPath, ...]:
    """The paths in a text, which commas separate. Raises PathInvalid or TooManyPaths."""
    found = [_path(part.strip()) for part in text.split(",") if part.strip()]
    if len(found) > PATHS_MAX:
        raise TooManyPaths
    return tuple(dict.fromkeys(found))


def _path(text: str) -> FieldPath:
    part, *names = text.split(".")
    if part == "headers":
        names = [".".join(names)] if names else []
    if part not in _PARTS or not all(names) or len(text) > PATH_LENGTH_MAX:
        raise PathInvalid(text)
    if part == "headers" and not names:
        raise PathInvalid(text)
    return FieldPath(part, tuple(names))


class Fields:
    """The parts of one record; each is parsed once, and only if a path needs it."""

    def __init__(self, texts: dict[str, Callable[[], str]], headers: Sequence[tuple[str, str]]):
        """`texts`: key and value → a function that returns the decoded text."""
        self._texts, self._headers = texts, headers
        self._parsed: dict[str, Any] = {}

    def text(self, path: FieldPath) -> str | None:
        """The field's text, shortened; None if the record lacks it."""
        if path.part == "headers":
            found = [value for name, value in self._headers if name == path.names[0]]
            return ", ".join(found)[:TEXT_LENGTH_MAX] if found else None
        if not path.names:
            return self._texts[path.part]()[:TEXT_LENGTH_MAX]
        if path.part not in self._parsed:
            self._parsed[path.part] = _parsed(self._texts[path.part]())
        found, is_there = _member(self._parsed[path.part], path.names)
        return _text(found)[:TEXT_LENGTH_MAX] if is_there else None


class _Number(str):
    """A number with a fraction, as it was sent: 1.10 stays 1.10."""


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, parse_float=_Number)
    except (ValueError, RecursionError):
        return None


def _member(node: Any, names: Sequence[str]) -> tuple[Any, bool]:
    if not names:
        return node, True
    if isinstance(node, list):
        index = names[0]
        if index.isdecimal() and int(index) < len(node):
            return _member(node[int(index)], names[1:])
    if isinstance(node, dict):
        for count in range(1, len(names) + 1):
            name = ".".join(names[:count])
            if name in node:
                return _member(node[name], names[count:])
    return None, False


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(_with_floats(value), ensure_ascii=False)


def _with_floats(value: Any) -> Any:
    """The value with floats for `_Number`s, which json.dumps would put in quotes."""
    if isinstance(value, dict):
        return {name: _with_floats(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_with_floats(each) for each in value]
    return float(value) if isinstance(value, _Number) else value
