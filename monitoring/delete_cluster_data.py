"""Deletes the data of a removed cluster: samples in Redis, history, and results of reports.

Otherwise a new cluster with the same slug would show the old one's data.
"""

import logging

from monitoring import redis_client, redis_keys
from monitoring.history import root_folder
from monitoring.reports import report_lifecycle

log = logging.getLogger(__name__)


def delete_cluster_data(slug: str) -> None:
    """Delete a removed cluster's data outside the database; its row is deleted already."""
    delete_samples(slug)
    _delete_history(slug)
    report_lifecycle.delete_orphans()


def _delete_history(slug: str) -> None:
    try:
        root_folder.current().delete_folder(root_folder.cluster_folder(slug))
    except FileNotFoundError:
        pass  # it has no history
    except OSError as error:
        log.warning("the history of %s could not be deleted: %s", slug, error)


def delete_samples(slug: str) -> None:
    """Delete the samples in Redis."""
    try:
        with redis_client.guarded() as client:
            client.delete(*redis_keys.all_but_lock(slug))
    except redis_client.RedisDown as error:
        log.warning("the samples of %s in Redis could not be deleted: %s", slug, error)
