"""The tasks that fill and tidy history, one cluster after the other, one worker at a time."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from celery import shared_task

from monitoring import store
from monitoring.history import manifest, upkeep, writer
from monitoring.history.root import Root, current
from monitoring.models import Cluster

log = logging.getLogger(__name__)
_LOCK = "aerie:history:writing"
_LOCK_S = 300


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
    now_ms = int(time.time() * 1000)
    upkeep.drop_old(root, slug, now_ms)
    upkeep.merge_one_hour(root, slug, now_ms)
    upkeep.delete_unnamed(root, slug, now_ms)


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
    with store.guarded() as client:
        taken = bool(client.set(_LOCK, 1, nx=True, ex=_LOCK_S))
    try:
        yield taken
    finally:
        if taken:
            with store.guarded() as client:
                client.delete(_LOCK)
