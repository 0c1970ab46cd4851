"""The context of a cluster's overview, for the page and its live fragment."""

from collections.abc import Mapping
from typing import Any

from console.accounts.rights import Rights
from console.alerts.services import open_alerts
from console.live import snapshot_cache
from monitoring.models import Cluster
from monitoring.read_model.rows import Totals

TOP = 8


def context(
    cluster: Cluster, rights: Rights, argument: str = "", query: Mapping[str, str] | None = None
) -> dict[str, Any] | None:
    """The figures of the newest ok tick; None if there is none."""
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
        # Also topics without traffic, so that the table's height does not change.
        "busiest_topics": shown.busiest_topics(TOP),
        "history": {
            name: _line(points, name)
            for name in ("messages_rate", "bytes_in_rate", "bytes_out_rate", "lag")
        },
    }


def _line(points: list[Totals | None], name: str) -> list[float | None]:
    """The values of a sparkline; None if the sample failed or the sum is incomplete."""
    return [None if point is None else getattr(point, name).complete for point in points]
