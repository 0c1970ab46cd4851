"""Writing history, one worker at a time: the lock is asked for once, and a busy one is told."""

import logging
import uuid
from collections.abc import Callable, Iterable

from monitoring import redis_client
from monitoring.clock import now_ms
from monitoring.history import compaction, manifest, writer
from monitoring.history.root import Root, current
from monitoring.redis_lock import held

log = logging.getLogger(__name__)
_LOCK, _LOCK_MS = "aerie:history:writing", 300_000


def flush(slugs: Iterable[str]) -> bool:
    """Append what was sampled of these clusters since the last time. Raises StoreDown.

    False = nothing was done: another worker writes history just now.
    """
    return _each(slugs, writer.flush)


def compact_and_expire() -> bool:
    """Merge finished hours, drop those that are too old, delete what no manifest names.

    Returns and raises as `flush`.
    """
    return _each(manifest.clusters(current()), _tidy)


def _tidy(root: Root, slug: str) -> None:
    at_ms = now_ms()
    compaction.drop_old(root, slug, at_ms)
    compaction.merge_one_hour(root, slug, at_ms)
    compaction.delete_unnamed(root, slug, at_ms)


def _each(slugs: Iterable[str], work: Callable[[Root, str], object]) -> bool:
    """One cluster's history that cannot be written never holds up the others'."""
    # The lock dies with its worker.
    with held(_LOCK, uuid.uuid4().hex, _LOCK_MS) as other:
        if other is not None:
            return False
        for slug in slugs:
            try:
                work(current(), slug)
            except (OSError, ValueError, redis_client.StoreDown) as error:
                log.error("history of %s: %s", slug, error)
    return True
