"""Deletes what the history does not need any more.

Files that no manifest lists are deleted after a grace time, so that readers with an older manifest
can finish.
"""

from datetime import UTC, datetime

from monitoring.history import manifest
from monitoring.history.levels import LEVELS
from monitoring.history.root import Root

_GRACE_MS = 15 * 60_000


def delete_unlisted(root: Root, slug: str, now_ms: int) -> int:
    """Delete files that no manifest lists and that are older than the grace time; how many."""
    deleted = 0
    for level in LEVELS:
        for place in manifest.places(root, slug, level):
            named = {file.name for file in manifest.load(root, place).files}
            for entry in root.entries(*place.folder):
                modified = entry.mtime or datetime.now(UTC)
                age_ms = now_ms - modified.timestamp() * 1000
                unnamed = entry.base_name not in named and not manifest.numbers([entry.base_name])
                if unnamed and age_ms > _GRACE_MS:
                    root.delete_file(*place.folder, entry.base_name)
                    deleted += 1
    return deleted
