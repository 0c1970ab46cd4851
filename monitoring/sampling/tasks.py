"""The Celery task that samples. Beat sends one message per tick; it expires with the tick."""

import logging
from concurrent.futures import ThreadPoolExecutor

from celery import shared_task
from django.db import connections

from monitoring import process_memory
from monitoring.clusters import kafka_cluster_id
from monitoring.clusters.models import Cluster, InvalidAddress
from monitoring.delete_cluster_data import delete_samples
from monitoring.encryption import SecretUnreadable
from monitoring.error_reason import Reason
from monitoring.gateway import event_loop
from monitoring.redis_client import RedisDown
from monitoring.sampling import time_limits
from monitoring.sampling.reader_pool import SamplingTarget
from monitoring.sampling.sample_cluster import readers, sample_cluster
from monitoring.ticks import tick_stream
from monitoring.ticks.tick_stream import record_skip_reason

log = logging.getLogger(__name__)
_CLUSTERS_AT_ONCE_MAX = 16
_memory = process_memory.ReleaseWhenSmaller()


@shared_task
def sample(tick_number: int) -> None:
    """Sample every cluster, each in a thread of its own."""
    interval_ms = tick_stream.interval_ms()
    clusters = list(Cluster.objects.all())
    targets = [
        (cluster, target) for cluster in clusters if (target := _target(cluster, tick_number))
    ]
    closed = event_loop.run(
        readers.close_others([cluster.slug for cluster, _ in targets]), time_limits.CLOSE_S
    )
    # Of these, those that were removed from the console: if one was being sampled then, that tick
    # was written after `delete_cluster_data` had run.
    for slug in set(closed) - {cluster.slug for cluster in clusters}:
        delete_samples(slug)
    with ThreadPoolExecutor(_CLUSTERS_AT_ONCE_MAX, thread_name_prefix="sample") as pool:
        for cluster, target in targets:
            pool.submit(_sample_one, cluster, target, tick_number, interval_ms)
    if closed:
        # Not left to `_memory`, which counts rows: a cluster that was too large to be sampled has
        # none.
        process_memory.release()
    _memory.set_row_count(readers.row_count())


def _target(cluster: Cluster, tick_number: int) -> SamplingTarget | None:
    try:
        return SamplingTarget.of(cluster)
    except (InvalidAddress, SecretUnreadable) as error:
        log.warning("cluster %s cannot be sampled: %s", cluster.slug, error)
        try:
            reason = Reason("settings_unreadable", why=error.reason)
            record_skip_reason(cluster.slug, tick_number, reason)
        except RedisDown:
            pass
        return None


def _sample_one(
    cluster: Cluster, target: SamplingTarget, tick_number: int, interval_ms: int
) -> None:
    """Sample one cluster; an exception does not affect the other clusters."""
    try:
        tick = sample_cluster(target, tick_number, interval_ms)
        if tick is not None and tick.ok:
            kafka_cluster_id.record(cluster, tick.cluster_id)
    except Exception:
        log.exception("tick %d of %s failed", tick_number, target.slug)
    finally:
        connections.close_all()
