"""Bytes of a key, value or header → what a person reads: JSON as JSON, text as text, else hex.

Pure. A decoder never fails: what is neither JSON nor text is shown in hex, and long data are cut
with their true size beside them.
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
    """Data as shown. `kind` is null, empty, json, text or hex; `size_bytes` is the true size.

    What a masking rule masks whole is of the kind "masked", and has no size; of other parts of
    such a record the size is rounded, and `is_coarse` says so.

    `text` is laid out over lines, `preview` is one line for a table.
    """

    kind: str
    text: str
    size_bytes: int
    is_cut: bool = False
    preview: str = ""
    is_coarse: bool = False


def decode(data: bytes | None) -> Decoded:
    """What to show of `data`; None is a null key or value (a tombstone)."""
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
    is_cut = len(shown) > SHOWN_CHARS_MAX
    line = " ".join(text[: 2 * PREVIEW_CHARS].split())[:PREVIEW_CHARS]
    return Decoded(kind, shown[:SHOWN_CHARS_MAX], len(data), is_cut, line)


def _as_text(data: bytes) -> str | None:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    # Printable throughout: a number in binary is valid UTF-8 too, and unreadable.
    if all(char.isprintable() or char in _TEXT_CONTROLS for char in text):
        return text
    return None


def _as_json(text: str) -> str | None:
    # A bare word or number is text; only objects and lists gain from being laid out.
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return None
    return _laid_out(text)


def _laid_out(text: str) -> str:
    """JSON over lines, two spaces a level.

    By its tokens, so that every number and every member stays as it was sent: a round trip through
    Python's values would make 1.10 of 1.1, and lose the first of two members of one name.
    """
    parts: list[str] = []
    depth = size = 0
    previous = ""
    for found in _TOKEN.finditer(text):
        token = found[0]
        if token in ("]", "}"):
            depth -= 1
        if previous and (previous == "," or (previous in "[{") != (token in "]}")):
            parts.append("\n" + "  " * depth)
        parts.append(_readable(token) if token[0] == '"' else token)
        if token == ":":
            parts.append(" ")
        elif token in ("[", "{"):
            depth += 1
        previous = token
        size += len(token) + 2 * depth
        if size > 2 * SHOWN_CHARS_MAX:
            break  # what is behind is cut off anyway
    return "".join(parts)


def _readable(string: str) -> str:
    """A JSON string with its letters as letters, where a page can hold them."""
    shown = json.dumps(json.loads(string), ensure_ascii=False)
    # Half a surrogate pair is JSON, escaped, and nothing that a page can hold.
    return shown if _is_whole(shown) else string


def _is_whole(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
