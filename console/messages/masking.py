"""Which parts of a record a reader without the right to see them gets covered.

Pure. A rule names a target:

    key            the whole key
    value          the whole value
    value.a.b      the member `a.b` of a JSON value; in lists, of each element
    headers.NAME   the header NAME (any case)

Covering errs on the safe side: where a rule names a member and the value is not JSON, the whole
value is covered, since what is meant to be hidden might stand anywhere in it.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from monitoring.gateway.browse import RecordRow

COVER = "••••"
COVER_BYTES = COVER.encode()
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


def mask(record: RecordRow, targets: Iterable[str]) -> RecordRow:
    """The record with each target covered; a null key or value stays null."""
    for target in targets:
        where, _, path = target.partition(".")
        if where == "key" and record.key is not None:
            record = replace(record, key=COVER_BYTES)
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
    return tuple((n, COVER_BYTES if n.lower() == hidden else value) for n, value in headers)


def _cover_value(value: bytes, path: Sequence[str]) -> bytes:
    if not path:
        return COVER_BYTES
    try:
        tree = json.loads(value)
        if not isinstance(tree, dict | list):
            return COVER_BYTES
        _cover_member(tree, path)
        return json.dumps(tree, ensure_ascii=False).encode()
    except (ValueError, RecursionError):  # no JSON, half a surrogate pair in it, or too deep
        return COVER_BYTES


def _cover_member(node: Any, path: Sequence[str]) -> None:
    if isinstance(node, list):
        for element in node:
            _cover_member(element, path)
    elif isinstance(node, dict) and path[0] in node:
        if len(path) == 1:
            node[path[0]] = COVER
        else:
            _cover_member(node[path[0]], path[1:])
