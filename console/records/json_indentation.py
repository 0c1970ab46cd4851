"""Indents JSON for pages, two spaces per level. Pure.

It works on tokens, so that numbers and duplicate members stay unchanged. Parsing to Python values
would turn 1.10 into 1.1 and drop the first of two members with the same name.
"""

import json
import re

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+')


def is_json_container(text: str) -> bool:
    """Whether a text is a JSON object or list."""
    if text.lstrip()[:1] not in ("{", "["):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def indented(text: str, chars_max: int) -> str | None:
    """A JSON object or list, indented, of which at least the first `chars_max` characters are
    complete; None of anything else. A single value is shown as text."""
    if not is_json_container(text):
        return None
    parts: list[str] = []
    depth = length = 0
    previous = ""
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in ("]", "}"):
            depth -= 1
        # A line ends after a comma, "[" or "{" and before "]" or "}", but not within "[]" or "{}".
        if previous and (previous == "," or (previous in "[{") != (token in "]}")):
            parts.append("\n" + "  " * depth)
            length += len(parts[-1])
        parts.append(_unescaped(token) if token[0] == '"' else token)
        length += len(parts[-1])
        if token == ":":
            parts.append(" ")
        elif token in ("[", "{"):
            depth += 1
        previous = token
        if length > chars_max:
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
