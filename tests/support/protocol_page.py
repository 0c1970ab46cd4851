"""The tables of docs/protocol.md."""

import re
from pathlib import Path
from typing import NamedTuple

PAGE = Path(__file__).parent.parent.parent / "docs" / "protocol.md"

Range = tuple[int, int]


class Row(NamedTuple):
    """One API; `brokerd` is None where it is not offered."""

    key: int
    name: str
    brokerd: Range | None
    kafka: Range
    words: str


def rows() -> list[Row]:
    """Every row of both tables, in their order."""
    found = []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and cells[0].isdigit():
            *ranges, words = cells[2:]
            parsed = [_range(text) for text in ranges]
            brokerd = parsed[0] if len(parsed) == 2 else None
            found.append(Row(int(cells[0]), cells[1], brokerd, parsed[-1], words))
    return found


def _range(text: str) -> Range:
    matched = re.fullmatch(r"(\d+)–(\d+)", text)
    assert matched is not None, f"{text!r} is no range of versions"
    return int(matched[1]), int(matched[2])
