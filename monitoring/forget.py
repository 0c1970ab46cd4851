"""What goes with a cluster that is no longer monitored: its samples, live and stored, and its
reports' results.

Nothing may stay: another cluster of the same name would be drawn as its continuation.
"""

import logging

from monitoring import keys, redis_client
from monitoring.history import root
from monitoring.reports import services as reports

log = logging.getLogger(__name__)


def forget_cluster(slug: str) -> None:
    """Deletes what a removed cluster left outside the database; its row is gone already."""
    forget_samples(slug)
    _forget_history(slug)
    reports.delete_orphans()


def _forget_history(slug: str) -> None:
    try:
        root.current().delete_folder(root.cluster_folder(slug))
    except FileNotFoundError:
        pass  # nothing was stored yet
    except OSError as error:
        log.warning("the stored history of %s stays: %s", slug, error)


def forget_samples(slug: str) -> None:
    """Deletes the live samples, so that another cluster of this name begins without them."""
    try:
        with redis_client.guarded() as client:
            client.delete(*keys.kept(slug))
    except redis_client.StoreDown as error:
        log.warning("the samples of %s stay in Redis: %s", slug, error)
