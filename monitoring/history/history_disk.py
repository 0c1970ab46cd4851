"""The space on the disk of a local history. It is read each time, which is cheap."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass

from monitoring.history.root_folder import Root

_FREE_SHARE_MIN, _FREE_BYTES_MIN = 0.03, 2**30
_ONE_WRITE_BYTES = 2**20


@dataclass(frozen=True, slots=True)
class DiskSpace:
    free_bytes: int
    total_bytes: int


def space(root: Root) -> DiskSpace | None:
    """The space now; None = unknown: the history is not local, or the disk does not answer."""
    if not root.is_local:
        return None
    folder = root.base
    while not os.path.exists(folder):
        folder = os.path.dirname(folder)
    try:
        usage = shutil.disk_usage(folder)
    except OSError:
        return None
    return DiskSpace(usage.free, usage.total)


def is_full(found: DiskSpace | None) -> bool:
    """Whether there is no room for the next write."""
    return found is not None and found.total_bytes > 0 and found.free_bytes < _ONE_WRITE_BYTES


def is_almost_full(found: DiskSpace | None) -> bool:
    """Whether writes are likely to fail soon, or fail now."""
    if found is None:
        return False
    is_small_share = found.free_bytes < _FREE_SHARE_MIN * found.total_bytes
    return is_small_share and found.free_bytes < _FREE_BYTES_MIN
