"""Which parts of a record a reader without the right to see them gets masked.

Pure. A rule names a target:

    key            the whole key
    value          the whole value
    value.a.b      the member `a.b` of a JSON value; in lists, of each element
    headers.NAME   the header NAME (any case)

Covering errs on the safe side: where a rule names a member and the value is not JSON, the whole
value is masked, since what is meant to be hidden might stand anywhere in it; the same holds for a
text or a number that stands where the rule expects an object.
"""

import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from monitoring.gateway.records import RecordRow

MASK = "••••"
MASK_BYTES = MASK.encode()
TARGET = re.compile(r"key|value(\.[^.\s]+)*|headers\.\S+")


# What a topic's name can hold, and the two wildcards.
_NOT_IN_PATTERNS = re.compile(r"[^a-zA-Z0-9._*?-]")
WILDCARDS_MAX = 10


def wrong_character(pattern: str) -> tuple[int, str] | None:
    """The first character (counted from 1) that no pattern of topic names can hold."""
    found = _NOT_IN_PATTERNS.search(pattern)
    return (found.start() + 1, found[0]) if found else None


def is_target(text: str) -> bool:
    """Whether `text` is a target that a rule can name."""
    return TARGET.fullmatch(text) is not None


def coarse(size_bytes: int) -> int:
    """The nearest power of two: enough to know what to expect, too little to tell what is masked.

    The length of a masked text would often give it away: of a yes and a no, of a card and none.
    """
    return size_bytes if size_bytes < 1 else 2 ** round(math.log2(size_bytes))


def mask(record: RecordRow, targets: Iterable[str]) -> RecordRow:
    """The record with each target masked; a null key or value stays null."""
    for target in targets:
        where, _, path = target.partition(".")
        if where == "key" and record.key is not None:
            record = replace(record, key=MASK_BYTES)
        elif where == "headers":
            record = replace(record, headers=_cover_header(record.headers, path))
        elif where == "value" and record.value is not None:
            parts = path.split(".") if path else []
            record = replace(record, value=_cover_value(record.value, parts))
    return record


def _cover_header(
    headers: tuple[tuple[str, bytes | None], ...], name: str
) -> tuple[tuple[str, bytes | None], ...]:
    hidden = name.lower()
    return tuple((n, MASK_BYTES if n.lower() == hidden else value) for n, value in headers)


def _cover_value(value: bytes, path: Sequence[str]) -> bytes:
    if not path:
        return MASK_BYTES
    try:
        tree = json.loads(value, parse_float=_exact)
        if not isinstance(tree, dict | list):
            return MASK_BYTES
        return json.dumps(_masked(tree, path), ensure_ascii=False).encode()
    # No JSON, half a surrogate pair in it, a number that would not stay what it is, or too deep.
    except (ValueError, RecursionError):
        return MASK_BYTES


def _exact(literal: str) -> float:
    number = float(literal)
    if not math.isfinite(number) or Decimal(repr(number)) != Decimal(literal):
        raise ValueError("the number has more digits than a float holds")
    return number


def _masked(node: Any, path: Sequence[str]) -> Any:
    """`node` with what stands at `path` masked, and whatever might hold it in another form."""
    if isinstance(node, list):
        return [_masked(element, path) for element in node] if path else MASK
    if isinstance(node, dict) and path:
        found = dict(node)
        # The member may also be written with dots in its name: {"a.b": …} for a.b.
        for count in range(1, len(path) + 1):
            name = ".".join(path[:count])
            if name in found:
                found[name] = _masked(found[name], path[count:])
        return found
    # A text or a number where an object was expected: it may be the hidden thing itself, or JSON
    # inside a string.
    return node if path and (node is None or isinstance(node, bool)) else MASK
