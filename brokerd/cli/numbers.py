"""Whole numbers as Java's parseShort, parseInt and parseLong read them, so that each fits the field
that it goes into."""

import re
from collections.abc import Callable
from typing import Any

from brokerd.cli.options import CliError

_NUMBER = re.compile(r"[-+]?\d{1,40}")


def _within(bits: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        value = int(text) if _NUMBER.fullmatch(text) else None
        if value is None or not _fits(value, bits):
            raise ValueError(f'For input string: "{text}"')
        return value

    return parse


def _fits(value: int, bits: int) -> bool:
    return -(1 << bits - 1) <= value < 1 << bits - 1


int32, int64 = _within(32), _within(64)
"""The number a text says; ValueError, in Java's words, where it is none or has more bits."""


def field(document: Any, name: str, bits: int) -> int:
    """A number in a JSON object. Raises CliError in the words of Kafka's tools."""
    value = document.get(name) if isinstance(document, dict) else None
    if not isinstance(value, int) or isinstance(value, bool) or not _fits(value, bits):
        kind = {32: "Integer", 64: "Long"}[bits]
        raise CliError(f"{name}: Expected `{kind}` value, received {value!r}")
    return value
