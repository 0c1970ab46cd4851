"""The tasks that fill and tidy history, one cluster after the other, one worker at a time."""

import logging
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from celery import shared_task

from monitoring import store
from monitoring.clock import now_ms
from monitoring.history import manifest, upkeep, writer
from monitoring.history.root import Root, current
from monitoring.lock import held
from monitoring.models import Cluster

log = logging.getLogger(__name__)
_LOCK, _LOCK_MS = "aerie:history:writing", 300_000


@shared_task(ignore_result=True)
def flush() -> None:
    """Append what was sampled since the last flush, of every cluster."""
    with _alone() as free:
        if free:
            _each(Cluster.objects.values_list("slug", flat=True), writer.flush)


@shared_task(ignore_result=True)
def drop_old() -> None:
    """Merge finished hours, drop those that are too old, delete what no manifest names."""
    with _alone() as free:
        if free:
            _each(manifest.clusters(current()), _tidy)


def _tidy(root: Root, slug: str) -> None:
    at_ms = now_ms()
    upkeep.drop_old(root, slug, at_ms)
    upkeep.merge_one_hour(root, slug, at_ms)
    upkeep.delete_unnamed(root, slug, at_ms)


def _each(slugs: Iterator[str] | list[str], work: Callable[[Root, str], object]) -> None:
    """One cluster's history that cannot be written never holds up the others'."""
    for slug in slugs:
        try:
            work(current(), slug)
        except (OSError, ValueError, store.StoreDown) as error:
            log.error("history of %s: %s", slug, error)


@contextmanager
def _alone() -> Iterator[bool]:
    """True inside if no other worker writes history now; the lock dies with its worker."""
    with held(_LOCK, uuid.uuid4().hex, _LOCK_MS) as other:
        yield other is None
