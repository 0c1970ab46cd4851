"""The written history of a cluster: which range was not recorded but written, as a marker file.

    cluster=<slug>/_written.json    {"version": 1, "from_ms", "to_ms", "pattern"}

It is written before the first file of the range and deleted after the last one, so a range that is
only partly there is marked too.
"""

from __future__ import annotations

import json
import logging
from dataclasses import asdict, dataclass

from monitoring.history.root_folder import Root, cluster_folder

_VERSION, _NAME = 1, "_written.json"
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WrittenRange:
    """`[from_ms, to_ms)`; `pattern`: "recorded" or "synthetic"."""

    from_ms: int
    to_ms: int
    pattern: str


def load(root: Root, slug: str) -> WrittenRange | None:
    """The written range of a cluster; None = there is none. Raises OSError."""
    try:
        content = json.loads(root.read(cluster_folder(slug), _NAME))
        if content.pop("version") != _VERSION:
            raise ValueError("another version")
        return WrittenRange(**content)
    except FileNotFoundError:
        return None
    except (KeyError, TypeError, ValueError) as error:
        raise OSError(f"{_NAME} of {slug} cannot be read: {error}") from error


def known(root: Root, slug: str) -> WrittenRange | None:
    """As `load`; None also if it cannot be read: pages and reports are there without it."""
    try:
        return load(root, slug)
    except OSError as error:
        log.warning("the written history of %s is not known: %s", slug, error)
        return None


def overlapping(root: Root, slug: str, from_ms: int, to_ms: int) -> WrittenRange | None:
    """What is `known`, if a part of `[from_ms, to_ms)` is in it."""
    found = known(root, slug)
    return found if found and found.from_ms < to_ms and from_ms < found.to_ms else None


def store(root: Root, slug: str, written: WrittenRange) -> None:
    content = {"version": _VERSION} | asdict(written)
    root.write(json.dumps(content).encode(), cluster_folder(slug), _NAME)


def delete(root: Root, slug: str) -> None:
    root.delete_file(cluster_folder(slug), _NAME)
