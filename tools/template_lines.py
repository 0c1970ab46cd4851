"""Refuses lines of templates that are too long to review: part of `make check`.

Exit code 1 where one has more than 120 characters. Django's tags cannot be broken: a long sentence
goes into a {% blocktranslate trimmed %}, a part of the page into a template of its own.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LENGTH_MAX = 120


def find(folder: Path) -> Iterator[str]:
    """Each line that is too long, as "file:number: its length"."""
    for path in sorted(folder.rglob("*.html")):
        for number, line in enumerate(path.read_text().splitlines(), start=1):
            if len(line) > LENGTH_MAX:
                yield f"{path.relative_to(folder.parent)}:{number}: {len(line)} characters"


def main() -> int:
    found = list(find(ROOT / "templates"))
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
