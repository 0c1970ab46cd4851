"""A schema as lines for pages, and the lines that differ between two. Pure."""

import difflib
import json
from typing import NamedTuple

from monitoring.schema_registry.subjects import SchemaText

LINES_MAX = 5_000  # of a comparison, which takes time that grows with their square
_CONTEXT_LINES = 3
ADDED, REMOVED, SAME, SKIPPED = "added", "removed", "same", "skipped"


class Line(NamedTuple):
    """A line of a comparison; SKIPPED stands for lines that are left out.

    `text` begins with "+", "-" or a space, as in a unified diff.
    """

    kind: str
    text: str

    @property
    def css(self) -> str:
        return {ADDED: "text-success", REMOVED: "text-danger"}.get(self.kind, "text-secondary")


def formatted_text(schema: SchemaText) -> str:
    """The text of the schema; JSON is indented."""
    try:
        value = json.loads(schema.text)
    except (ValueError, RecursionError):  # a .proto file
        return schema.text
    text = json.dumps(value, indent=2, ensure_ascii=False)
    return text.encode("utf-8", "replace").decode()  # a page cannot contain lone surrogates


def comparison(before: SchemaText, after: SchemaText) -> list[Line]:
    """The lines that differ, with some around them; empty if none differs."""
    old, new = (formatted_text(each).splitlines() for each in (before, after))
    found = []
    diff = difflib.unified_diff(old[:LINES_MAX], new[:LINES_MAX], lineterm="", n=_CONTEXT_LINES)
    for line in list(diff)[2:]:  # without the names of the files
        kind = {"+": ADDED, "-": REMOVED, "@": SKIPPED}.get(line[0], SAME)
        found.append(Line(kind, "…" if kind == SKIPPED else line))
    if old[LINES_MAX:] != new[LINES_MAX:]:
        found.append(Line(SKIPPED, "…"))
    return found
