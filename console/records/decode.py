"""Decodes the bytes of a key, value or header for pages: as JSON, text or hex.

Pure. Decoding never fails: bytes that are neither JSON nor text are shown as hex. Long data is
truncated; its full size is shown.
"""

import json
import re
from dataclasses import dataclass

SHOWN_CHARS_MAX = 20_000
HEX_BYTES_MAX = 512
PREVIEW_CHARS = 300
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+')
_TEXT_CONTROLS = frozenset("\t\n\r")


@dataclass(frozen=True, slots=True)
class Decoded:
    """Decoded data. `kind` is null, empty, json, text, hex or masked; `size_bytes` is the full
    size.

    A part that is masked completely has the kind "masked" and no size. If other parts of the record
    are masked, `is_size_rounded` is True and the size is rounded.

    `text` can have several lines; `preview` is one line for a table.
    """

    kind: str
    text: str
    size_bytes: int
    is_truncated: bool = False
    preview: str = ""
    is_size_rounded: bool = False


def decode(data: bytes | None) -> Decoded:
    """Decode `data`; None is a null key or value (a tombstone)."""
    if data is None:
        return Decoded("null", "", 0)
    if not data:
        return Decoded("empty", "", 0)
    text = _as_text(data)
    if text is None:
        shown = data[:HEX_BYTES_MAX].hex(" ", 2)
        return Decoded("hex", shown, len(data), len(data) > HEX_BYTES_MAX, shown[:PREVIEW_CHARS])
    pretty = _as_json(text)
    kind, shown = ("text", text) if pretty is None else ("json", pretty)
    is_truncated = len(shown) > SHOWN_CHARS_MAX
    line = " ".join(text[: 2 * PREVIEW_CHARS].split())[:PREVIEW_CHARS]
    return Decoded(kind, shown[:SHOWN_CHARS_MAX], len(data), is_truncated, line)


def _as_text(data: bytes) -> str | None:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    # Binary numbers can be valid UTF-8 as well, so all characters must be printable.
    if all(char.isprintable() or char in _TEXT_CONTROLS for char in text):
        return text
    return None


def _as_json(text: str) -> str | None:
    # Only objects and lists are formatted; a single value is shown as text.
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return None
    return _indented(text)


def _indented(text: str) -> str:
    """JSON, formatted with two spaces per level.

    It works on tokens, so that numbers and duplicate members stay unchanged. Parsing to Python
    values would turn 1.10 into 1.1 and drop the first of two members with the same name.
    """
    parts: list[str] = []
    depth = size = 0
    previous = ""
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in ("]", "}"):
            depth -= 1
        if previous and (previous == "," or (previous in "[{") != (token in "]}")):
            parts.append("\n" + "  " * depth)
        parts.append(_unescaped(token) if token[0] == '"' else token)
        if token == ":":
            parts.append(" ")
        elif token in ("[", "{"):
            depth += 1
        previous = token
        size += len(token) + 2 * depth
        if size > 2 * SHOWN_CHARS_MAX:
            break  # the rest is truncated anyway
    return "".join(parts)


def _unescaped(string: str) -> str:
    """A JSON string with escapes replaced by characters, if these are valid in a page."""
    shown = json.dumps(json.loads(string), ensure_ascii=False)
    # An escaped lone surrogate is valid JSON, but not valid in a page.
    return shown if _is_encodable(shown) else string


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
