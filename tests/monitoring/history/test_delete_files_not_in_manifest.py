import os
from pathlib import Path

from monitoring.history import append_ticks, delete_files_not_in_manifest, manifest
from monitoring.history.levels import RAW
from monitoring.history.manifest import Manifest
from tests.monitoring.tick_factory import make_tick


def test_files_that_no_manifest_lists_are_deleted_after_the_grace_time(root):
    for number in (10, 11):
        append_ticks.append(
            root, "local", [make_tick(number, partitions=[{"topic": "a", "partition": 0}])]
        )
    [span_folder] = manifest.span_folders(root, "local", RAW)
    files = list(manifest.load(root, span_folder).files)
    kept, dropped = files[:1], files[1:]
    manifest.replace(root, span_folder, manifest.load(root, span_folder), kept)
    now_ms = 10**12
    folder = Path(root.path(*span_folder.folder))
    for path in folder.iterdir():
        os.utime(path, (now_ms / 1000, now_ms / 1000))
    assert delete_files_not_in_manifest.delete_unlisted(root, "local", now_ms + 60_000) == 0
    assert delete_files_not_in_manifest.delete_unlisted(root, "local", now_ms + 20 * 60_000) == len(
        dropped
    )
    names = {path.name for path in folder.iterdir() if path.suffix == ".parquet"}
    assert names == {file.name for file in kept}
    assert manifest.load(root, span_folder) == Manifest(3, tuple(kept))


def test_the_grace_time_of_replaced_files_begins_when_they_are_replaced(root):
    tick = make_tick(10, partitions=[{"topic": "a", "partition": 0}])
    append_ticks.append(root, "local", [tick])
    [span_folder] = manifest.span_folders(root, "local", RAW)
    folder = Path(root.path(*span_folder.folder))
    for path in folder.iterdir():
        os.utime(path, (1000, 1000))
    manifest.replace(root, span_folder, manifest.load(root, span_folder), [])
    replaced_ms = int(max(path.stat().st_mtime for path in folder.iterdir()) * 1000)
    assert delete_files_not_in_manifest.delete_unlisted(root, "local", replaced_ms + 60_000) == 0
    assert (
        delete_files_not_in_manifest.delete_unlisted(root, "local", replaced_ms + 20 * 60_000) > 0
    )
