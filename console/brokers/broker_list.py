"""The live list of a cluster's brokers (templates/brokers/live.html)."""

from collections.abc import Mapping
from typing import Any

from console.accounts.rights import Rights
from console.live import snapshot_cache
from monitoring.models import Cluster


def context(
    cluster: Cluster, rights: Rights, resource: str, query: Mapping[str, str]
) -> dict[str, Any]:
    """All brokers of the newest ok tick, with cluster id and controller."""
    snapshot = snapshot_cache.snapshot(cluster.slug, rights)
    found = snapshot.brokers if snapshot else []
    return {
        "brokers": found,
        "at_ms": snapshot.at_ms if snapshot else None,
        "cluster_id": snapshot.tick.cluster_id if snapshot else "",
        "controller": snapshot.tick.controller_id if snapshot else None,
        "without_source": any(broker.source == "none" for broker in found),
    }
