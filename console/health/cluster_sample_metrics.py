"""The metrics of each cluster's newest sample: its state and its time."""

from console.health.prometheus_text import gauge
from console.live import snapshot_cache
from monitoring.models import Cluster


def cluster_sample_metrics() -> list[str]:
    """The state of each cluster's newest sample."""
    up, timestamps = [], []
    for slug in Cluster.objects.values_list("slug", flat=True):
        status = snapshot_cache.sample_status(slug)
        up.append(({"cluster": slug}, int(status.is_live)))
        at_s = None if status.at_ms is None else status.at_ms / 1000
        timestamps.append(({"cluster": slug}, at_s))
    return [
        *gauge("aerie_sample_up", up),
        *gauge("aerie_sample_timestamp_seconds", timestamps),
    ]
