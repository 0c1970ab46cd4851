"""What goes with a cluster that is no longer watched: its live samples and its reports' results.

Its stored history stays until it is too old (history/upkeep.py).
"""

import logging

from monitoring import keys, store
from monitoring.reports import services as reports

log = logging.getLogger(__name__)


def forget_cluster(slug: str) -> None:
    """Deletes what a removed cluster left outside the database; its row is gone already."""
    forget_samples(slug)
    reports.sweep()


def forget_samples(slug: str) -> None:
    """Deletes the live samples, so that another cluster of this name begins without them."""
    try:
        with store.guarded() as client:
            client.delete(*keys.kept(slug))
    except store.StoreDown as error:
        log.warning("the samples of %s stay in Redis: %s", slug, error)
