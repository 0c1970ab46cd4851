"""Writes the raw level of the history, and deletes files that no manifest lists.

A Redis lock admits one worker at a time.
"""

import logging
import uuid
from collections.abc import Callable, Iterable

from monitoring import redis_client
from monitoring.clock import now_ms
from monitoring.history import append_ticks, delete_files_not_in_manifest, flush_state, manifest
from monitoring.history.root_folder import Root, current
from monitoring.redis_lock import try_lock

log = logging.getLogger(__name__)
_LOCK, _LOCK_MS = "aerie:history:writing", 300_000


def flush(slugs: Iterable[str]) -> bool:
    """Append the new ticks of these clusters. Raises RedisDown.

    Returns False if another worker holds the lock; then nothing was done.
    """
    return _for_each_cluster(slugs, _flush)


def _flush(root: Root, slug: str) -> None:
    flush_state.note_begun(slug, now_ms())
    try:
        append_ticks.flush(root, slug)
    except (OSError, ValueError) as error:
        flush_state.note_failed(slug, error)
        raise
    flush_state.note_done(slug)


def delete_unlisted() -> bool:
    """Delete files that no manifest lists. Returns and raises as `flush`."""
    return _for_each_cluster(manifest.clusters(current()), _delete_unlisted)


def _delete_unlisted(root: Root, slug: str) -> None:
    delete_files_not_in_manifest.delete_unlisted(root, slug, now_ms())


def _for_each_cluster(slugs: Iterable[str], work: Callable[[Root, str], object]) -> bool:
    """Call `work` for each cluster. An error of one cluster does not stop the others."""
    # If the worker dies, the lock expires.
    with try_lock(_LOCK, uuid.uuid4().hex, _LOCK_MS) as other:
        if other is not None:
            return False
        for slug in slugs:
            try:
                work(current(), slug)
            except (OSError, ValueError, redis_client.RedisDown) as error:
                log.error("history of %s: %s", slug, error)
    return True
