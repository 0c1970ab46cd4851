"""Replaces segments by the cleaned segment that was made of them. If the broker stops at any point,
the next start finishes or undoes this (`log_loader.tidy`).

1. indexes `.cleaned` → `.swap`, then the data: from here on the set is complete;
2. the files of the old segments → `.deleted` (open ranges of them stay readable);
3. `.swap` → their final names, the data first;
4. the directory is synced, by another thread: only then do the files of the old segments go.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from brokerd.errors import ErrorCode, KafkaError
from brokerd.log import file_names
from brokerd.log.io.disk_jobs import SyncJob
from brokerd.log.io.files import rename_if_there
from brokerd.log.log_context import raises_storage_error
from brokerd.log.segments.log_segment import LogSegment
from brokerd.log.segments.log_segments import mark_deleted
from brokerd.log.unified_log import UnifiedLog

_INDEXES: Final = file_names.INDEX_SUFFIXES
_FILES: Final = (*_INDEXES, file_names.LOG)


@raises_storage_error
def replace(log: UnifiedLog, bases: Sequence[int], job: str, size_bytes: int, now_ms: int) -> None:
    """Replaces closed neighbouring segments by what a job made of them. Raises KafkaError: then
    nothing has changed, unless the disk has failed."""
    local = log.local
    old = local.segments.closed_run(bases)
    if old is None:
        raise ValueError(f"{bases} are no closed segments of {log.directory}")
    deleted = _swap_in(old, job, size_bytes)
    segment = LogSegment(
        local.context.files, log.directory, old[0].base_offset, size_bytes, old[0].created_ms
    )
    segment.index_interval_bytes = log.config.index_interval_bytes
    local.segments.replace(old, segment)

    def synced(error: OSError | None) -> None:
        if error is None:
            local.remove_later(deleted, now_ms)
        else:
            local.failed(error)

    local.context.submit(SyncJob(log.directory, synced))
    log.event("compaction", segments=list(bases), size_bytes=size_bytes)


def _swap_in(old: Sequence[LogSegment], job: str, size_bytes: int) -> list[str]:
    """Renames in what a job made of `old`; returns the `.deleted` paths. Raises OSError, and
    KafkaError before anything is touched if the cleaned data have another size."""
    first = old[0]
    _require(_cleaned(first, file_names.LOG, job), size_bytes)
    for suffix in _INDEXES:
        rename_if_there(_cleaned(first, suffix, job), first.path(suffix) + file_names.SWAP)
    # Whoever comes here without data has lost the records of the old segments.
    os.rename(
        _cleaned(first, file_names.LOG, job),
        first.path(file_names.LOG) + file_names.SWAP,
    )
    return _put_in_place(old)


def _put_in_place(old: Sequence[LogSegment]) -> list[str]:
    """The set is complete: the old files go, the new ones get their names."""
    first = old[0]
    deleted = mark_deleted(first, _FILES)
    for segment in old[1:]:
        deleted += mark_deleted(segment)
    for suffix in reversed(_FILES):
        rename_if_there(first.path(suffix) + file_names.SWAP, first.path(suffix))
    return deleted


def discard(directory: str, base_offset: int, job: str) -> None:
    for suffix in _FILES:
        with suppress(FileNotFoundError):
            os.unlink(file_names.cleaned_file(directory, base_offset, suffix, job))


def _cleaned(segment: LogSegment, suffix: str, job: str) -> str:
    return file_names.cleaned_file(segment.directory, segment.base_offset, suffix, job)


def _require(path: str, size_bytes: int) -> None:
    try:
        found_bytes = os.stat(path).st_size
    except FileNotFoundError:
        found_bytes = -1
    if found_bytes != size_bytes:
        what = "is missing" if found_bytes < 0 else f"has {found_bytes} bytes"
        raise KafkaError(
            ErrorCode.UNKNOWN_SERVER_ERROR, f"{path} {what}, and should have {size_bytes}"
        )
