"""Bytes of a key, value or header → what a person reads: JSON as JSON, text as text, else hex.

Pure. A decoder never fails: what is neither JSON nor text is shown in hex, and long data are cut
with their true size beside them.
"""

import json
from dataclasses import dataclass
from typing import Any

SHOWN_CHARS_MAX = 20_000
HEX_BYTES_MAX = 512
PREVIEW_CHARS = 300
_TEXT_CONTROLS = frozenset("\t\n\r")


@dataclass(frozen=True, slots=True)
class Decoded:
    """Data as shown. `kind` is null, empty, json, text or hex; `size_bytes` is the true size.

    What a masking rule covers whole is of the kind "covered", and has no size.

    `text` is laid out over lines, `preview` is one line for a table.
    """

    kind: str
    text: str
    size_bytes: int
    is_cut: bool = False
    preview: str = ""


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
        tree = json.loads(text, object_pairs_hook=_members)
        laid_out = json.dumps(tree, indent=2, ensure_ascii=False)
        # Half a surrogate pair is JSON, escaped, and nothing that a page can hold.
        return laid_out if laid_out.isascii() or _is_whole(laid_out) else json.dumps(tree, indent=2)
    except (ValueError, RecursionError):
        return None


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; one that names a member twice would lose the first: it stays text."""
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a member is named twice")
    return members


def _is_whole(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
