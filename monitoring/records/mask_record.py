"""Masks parts of a record for users without the right to see them.

Pure. The targets of rules:

    key            the whole key
    value          the whole value
    value.a.b      the field `a.b` of a JSON value; in lists, of each element
    headers.NAME   the header NAME (any case)

Data with a schema are masked after they were decoded (monitoring/schema_registry/). A field of
Protobuf has two names, card_number and cardNumber: a rule may have either.

If in doubt, more is masked: if a rule names a field and the value is not JSON, the whole value is
masked, since the field's content could be anywhere in it. The same applies to a text or number in
place of an expected object.
"""

import json
import math
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

from monitoring.gateway.record_row import RecordRow

MASK = "••••"
MASK_BYTES = MASK.encode()
TARGET = re.compile(r"key|value(\.[^.\s]+)*|headers\.\S+")


def is_target(text: str) -> bool:
    """Whether `text` is a valid target."""
    return TARGET.fullmatch(text) is not None


def rounded_size(size_bytes: int) -> int:
    """The nearest power of two, so that the size does not reveal masked data.

    An exact size can reveal it, for example "yes" or "no".
    """
    return size_bytes if size_bytes < 1 else 2 ** round(math.log2(size_bytes))


def mask(record: RecordRow, targets: Iterable[str]) -> RecordRow:
    """The record with each target masked; a null key or value stays null."""
    for target in targets:
        where, _, path = target.partition(".")
        if where == "key" and record.key is not None:
            record = record._replace(key=MASK_BYTES, key_schema=None)
        elif where == "headers":
            record = record._replace(headers=_mask_header(record.headers, path))
        elif where == "value" and record.value is not None:
            record = _with_masked_value(record, record.value, path.split(".") if path else [])
    return record


def _with_masked_value(record: RecordRow, value: bytes, path: list[str]) -> RecordRow:
    note = record.value_schema
    masked = _mask_value(value, path, note is not None and note.type == "PROTOBUF")
    shown = note.masked() if note is not None and path else None
    return record._replace(value=masked, value_schema=shown)


def _mask_header(
    headers: tuple[tuple[str, bytes | None], ...], name: str
) -> tuple[tuple[str, bytes | None], ...]:
    hidden = name.lower()
    return tuple((n, MASK_BYTES if n.lower() == hidden else value) for n, value in headers)


def _mask_value(value: bytes, path: Sequence[str], is_protobuf: bool) -> bytes:
    if not path:
        return MASK_BYTES
    try:
        tree = json.loads(value, parse_float=_exact_float)
        if not isinstance(tree, dict | list):
            return MASK_BYTES
        return json.dumps(_masked(tree, path, is_protobuf), ensure_ascii=False).encode()
    # Not JSON, a lone surrogate, a number that a float cannot represent, or nested too deeply.
    except (ValueError, RecursionError):
        return MASK_BYTES


def _exact_float(literal: str) -> float:
    number = float(literal)
    if not math.isfinite(number) or Decimal(repr(number)) != Decimal(literal):
        raise ValueError("the number has more digits than a float holds")
    return number


def _masked(node: Any, path: Sequence[str], is_protobuf: bool) -> Any:
    """`node` with the data at `path` masked, including values that may contain it in another
    form."""
    if isinstance(node, list):
        return [_masked(element, path, is_protobuf) for element in node] if path else MASK
    if isinstance(node, dict) and path:
        found = dict(node)
        # The name of a field can also contain dots: {"a.b": …} for a.b.
        for count in range(1, len(path) + 1):
            name = ".".join(path[:count])
            for each in _members(found, name, is_protobuf):
                found[each] = _masked(found[each], path[count:], is_protobuf)
        return found
    # A text or number in place of an object can be the hidden data, or JSON inside a string.
    return node if path and (node is None or isinstance(node, bool)) else MASK


def _members(node: dict[str, Any], name: str, is_protobuf: bool) -> list[str]:
    """The members of this name; for Protobuf, `user_id` and `userId` are one name."""
    if not is_protobuf:
        return [name] if name in node else []
    wanted = _normalized_name(name)
    return [each for each in node if _normalized_name(each) == wanted]


def _normalized_name(name: str) -> str:
    return name.replace("_", "").lower()
