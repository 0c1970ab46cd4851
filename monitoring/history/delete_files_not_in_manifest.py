"""Deletes the files of the history that no manifest lists any more.

They are deleted after a grace time, so that readers with an older manifest
can finish. The grace time starts at the file's last change or at the newest manifest, whichever is
later.
"""

from datetime import UTC, datetime

import pyarrow.fs as pafs

from monitoring.history import manifest
from monitoring.history.levels import LEVELS
from monitoring.history.root_folder import Root, SpanFolder

_GRACE_MS = 15 * 60_000


def delete_unlisted(root: Root, slug: str, now_ms: int) -> int:
    """Delete unlisted files that are older than the grace time; returns their number."""
    span_folders = [
        span_folder for level in LEVELS for span_folder in manifest.span_folders(root, slug, level)
    ]
    return sum(_delete_unlisted(root, span_folder, now_ms) for span_folder in span_folders)


def _delete_unlisted(root: Root, span_folder: SpanFolder, now_ms: int) -> int:
    listed_names = {file.name for file in manifest.load(root, span_folder).files}
    deleted = newest_manifest_ms = 0
    entries = root.entries(*span_folder.folder)
    for entry in entries:
        if manifest.numbers([entry.base_name]):
            newest_manifest_ms = max(newest_manifest_ms, _modified_ms(entry))
            listed_names.add(entry.base_name)
    for entry in entries:
        if entry.base_name in listed_names:
            continue
        if now_ms - max(newest_manifest_ms, _modified_ms(entry)) > _GRACE_MS:
            root.delete_file(*span_folder.folder, entry.base_name)
            deleted += 1
    return deleted


def _modified_ms(entry: pafs.FileInfo) -> int:
    modified = entry.mtime or datetime.now(UTC)
    return int(modified.timestamp() * 1000)
