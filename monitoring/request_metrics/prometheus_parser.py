"""Reads Prometheus' text format (0.0.4) into samples. Pure.

Only the samples of wanted names are decoded, since a broker may report hundreds of thousands. The
other lines must begin with a name, so that a page of HTML or JSON is recognised as another format.
Names are compared in lower case, which JMX exporters write only with `lowercaseOutputName`.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

LINES_MAX = 1_000_000
LINE_LENGTH_MAX = 10_000
SAMPLES_MAX = 20_000
_NAME = re.compile(r"\s*([a-zA-Z_:][a-zA-Z0-9_:]*)[ \t]*")
_LABEL = re.compile(r'\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*"((?:[^"\\]|\\.)*)"\s*(,|(?=\}))')
_VALUE = re.compile(r"\s*(\S+)(?:\s+-?\d+)?\s*")  # a timestamp may follow it
_CLOSE = re.compile(r"\s*\}")
_ESCAPE = re.compile(r"\\(.)")


class InvalidFormat(ValueError):
    """This is not the text format, or more of it than is read; says which line or limit."""


class Sample(NamedTuple):
    """One line, its name in lower case."""

    name: str
    labels: dict[str, str]
    value: float


def samples(text: str, prefixes: tuple[str, ...]) -> Iterator[Sample]:
    """The samples whose names begin with one of `prefixes`. Raises InvalidFormat."""
    found = 0
    for number, line in enumerate(text.split("\n"), start=1):
        if not line or line[0] == "#" or line.isspace():
            continue
        name = _NAME.match(line)
        if name is None:
            raise InvalidFormat(f"line {number} does not begin with the name of a metric")
        if number > LINES_MAX:
            raise InvalidFormat(f"more than {LINES_MAX} lines")
        if not name[1].lower().startswith(prefixes):
            continue
        found += 1
        if found > SAMPLES_MAX:
            raise InvalidFormat(f"more than {SAMPLES_MAX} samples of requests")
        sample = _sample(name[1].lower(), line, name.end())
        if sample is None:
            raise InvalidFormat(f"line {number} is not a name, labels and a value")
        yield sample


def _sample(name: str, line: str, end: int) -> Sample | None:
    if len(line) > LINE_LENGTH_MAX:
        return None
    labels: dict[str, str] = {}
    if line.startswith("{", end):
        end += 1
        while label := _LABEL.match(line, end):
            labels[label[1]] = _ESCAPE.sub(_unescaped, label[2])
            end = label.end()
        if not (close := _CLOSE.match(line, end)):
            return None
        end = close.end()
    value = _VALUE.fullmatch(line, end)
    try:
        return Sample(name, labels, float(value[1])) if value else None
    except ValueError:
        return None


def _unescaped(escape: re.Match[str]) -> str:
    return "\n" if escape[1] == "n" else escape[1]
