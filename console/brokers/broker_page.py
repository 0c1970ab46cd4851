"""The context of a broker's page, for the page and its live fragment."""

from collections.abc import Mapping
from typing import Any

from django.http import Http404
from django.urls import reverse
from django.utils.translation import gettext as _

from console.accounts.request_types import ClusterRequest
from console.accounts.rights import Rights
from console.brokers.broker_warnings import warnings_by_broker
from console.charts.chart_query import ChartQuery
from console.live import snapshot_cache
from monitoring.models import Cluster

CHARTS = ("bytes", "requests", "cpu", "memory", "size", "disk")


def context(
    cluster: Cluster, rights: Rights, name: str, query: Mapping[str, str]
) -> dict[str, Any] | None:
    """The context of the broker's page; None if there is no sample or no such broker."""
    snapshot = snapshot_cache.snapshot(cluster.slug, rights)
    rows = snapshot.brokers if snapshot else []
    found = next((row for row in rows if str(row.id) == name), None)
    if snapshot is None or found is None:
        return None
    leader_counts = [row.leaders for row in rows if row.up]
    return {
        "broker": found,
        "warnings": warnings_by_broker(rows)[found.id],
        "at_ms": snapshot.at_ms,
        "mean_leaders": round(sum(leader_counts) / len(leader_counts)) if leader_counts else None,
    }


def raise_if_unknown(request: ClusterRequest, broker_id: int) -> None:
    """Raises Http404 for a broker that the last sample does not have."""
    snapshot = snapshot_cache.snapshot(request.cluster.slug, request.rights)
    if snapshot is not None and all(row.id != broker_id for row in snapshot.brokers):
        raise Http404(_("This cluster has no broker %(id)d.") % {"id": broker_id})


def charts(broker_id: int) -> list[ChartQuery]:
    return [ChartQuery("broker", show, broker=broker_id) for show in CHARTS]


def tabs(request: ClusterRequest, broker_id: int, active: str) -> list[dict[str, Any]]:
    """The tabs for `{% tabs %}`."""
    titles = {
        "broker": _("Overview"),
        "broker-requests": _("Requests"),
        "broker-config": _("Configuration"),
        "broker-loggers": _("Loggers"),
    }
    return [
        {
            "title": title,
            "url": reverse(name, args=[request.cluster.slug, broker_id]),
            "active": name == active,
        }
        for name, title in titles.items()
    ]
