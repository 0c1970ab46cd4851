"""What the overview of a cluster shows, for the full page and for its live fragment alike."""

from collections.abc import Mapping
from typing import Any

from console.accounts.rights import Rights
from console.alerts.services import open_alerts
from console.live import snapshot_cache
from monitoring.models import Cluster
from monitoring.views.rows import Totals

TOP = 8


def context(
    cluster: Cluster, rights: Rights, argument: str = "", query: Mapping[str, str] | None = None
) -> dict[str, Any] | None:
    """The figures of the newest good tick; None when there never was one."""
    shown = snapshot_cache.snapshot(cluster.slug, rights)
    if shown is None:
        return None
    points = snapshot_cache.history(cluster.slug, rights)
    return {
        "alerts": open_alerts(cluster, rights, shown) if rights.may("alert.view") else None,
        "totals": shown.totals,
        "at_ms": shown.at_ms,
        "brokers": shown.brokers,
        "controller": shown.tick.controller_id,
        "worst_groups": shown.groups_most_behind(TOP),
        # Also those at rest, so that the table keeps its height from tick to tick.
        "busiest_topics": shown.busiest_topics(TOP),
        "history": {
            name: _line(points, name)
            for name in ("messages_rate", "bytes_in_rate", "bytes_out_rate", "lag")
        },
    }


def _line(points: list[Totals | None], name: str) -> list[float | None]:
    """A gap where the sample failed or a part of the sum is not known: never a dip."""
    return [None if point is None else getattr(point, name).complete for point in points]
