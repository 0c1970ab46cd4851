"""Putting a cleaned segment in the place of those it was made of, so that a stop at any point is
finished or undone at the next start (`loader.tidy`).

1. indexes `.cleaned` → `.swap`, then the data: from here on the set is complete;
2. the files of the old segments → `.deleted` (open ranges of them stay readable);
3. `.swap` → their final names, the data first.
"""

import os
from collections.abc import Sequence
from typing import Final

from brokerd.log import crash_points, names
from brokerd.log.segment import Segment

_INDEXES: Final = names.INDEX_SUFFIXES
_FILES: Final = (*_INDEXES, names.LOG)


def swap_in(old: Sequence[Segment]) -> list[str]:
    """Rename the cleaned files of the first of `old` in; returns the `.deleted` paths.

    Raises OSError. Segments in memory are the caller's to replace.
    """
    first = old[0]
    for suffix in _FILES:
        _rename(first.path(suffix) + names.CLEANED, first.path(suffix) + names.SWAP)
        crash_points.reached(f"swap{suffix}")
    deleted = []
    for segment in old:
        segment.abandon()
        suffixes = _FILES if segment is first else names.SEGMENT_SUFFIXES
        for suffix in suffixes:
            path = segment.path(suffix)
            if _rename(path, path + names.DELETED):
                deleted.append(path + names.DELETED)
        crash_points.reached("old-deleted")
    for suffix in reversed(_FILES):
        _rename(first.path(suffix) + names.SWAP, first.path(suffix))
        crash_points.reached(f"final{suffix}")
    return deleted


def discard(directory: str, base_offset: int) -> None:
    """Remove cleaned files that nobody wants any more."""
    for suffix in _FILES:
        try:
            os.unlink(names.segment_file(directory, base_offset, suffix) + names.CLEANED)
        except FileNotFoundError:
            continue


def _rename(path: str, to: str) -> bool:
    try:
        os.rename(path, to)
    except FileNotFoundError:
        return False
    return True
