"""The charts of a page: their titles, and where each gets its data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _

from console.accounts.request_types import ClusterRequest
from console.charts import measures, other_subject, services
from console.charts.chart_query import ChartQuery
from console.charts.ranges import RANGES_MS, range_of
from monitoring.history.series import COMPARE_MS
from monitoring.models import Cluster


@dataclass(frozen=True, slots=True)
class ChartCard:
    """A chart on a page: its title, its unit, the URL of its data, or why there are none."""

    title: str
    unit: str
    src: str
    no_source: str = ""


def context(request: ClusterRequest, queries: Sequence[ChartQuery]) -> dict[str, Any]:
    """For templates/charts/: the charts that the user may see, and the page's time range.

    All charts of a page share the range and the comparisons in its URL.
    """
    chosen, compare = range_of(request.GET)
    visible_queries = [query for query in queries if services.may_see(request.rights, query)]
    field = other_subject.field(request, visible_queries[0]) if visible_queries else None
    other = field.name if field and not field.error else ""
    url = reverse("chart", args=[request.cluster.slug])
    shared = _parameters(chosen, compare, other)
    cards = [
        ChartCard(
            measures.titles()[query.show],
            measures.units()[query.show],
            f"{url}?{query.parameters()}&{shared}",
            _no_source(request.cluster, query),
        )
        for query in visible_queries
    ]
    labels = {"yesterday": _("Yesterday"), "week": _("Last week")}
    return {
        "charts": cards,
        "chart_range": chosen,
        "chart_ranges": [(name, "?" + _parameters(name, compare, other)) for name in RANGES_MS],
        "chart_compare": compare,
        "chart_compares": [
            (name, labels[name], "?" + _parameters(chosen, "" if name == compare else name, other))
            for name in COMPARE_MS
        ],
        "chart_other": field,
        "chart_alone": "?" + _parameters(chosen, compare, ""),
    }


def _no_source(cluster: Cluster, query: ChartQuery) -> str:
    """What to set where a chart has no source of values; empty = it has one.

    Only brokerd's admin port tells traffic, CPU and memory (monitoring/gateway/broker_stats.py).
    """
    if query.kind == "broker":
        is_known = str(query.broker) in cluster.admin_urls
    else:
        is_known = bool(cluster.admin_urls) or query.show != "bytes"
    if is_known or query.show not in ("bytes", "requests", "cpu", "memory"):
        return ""
    if query.kind == "broker" and query.show in ("bytes", "requests"):
        return _(
            "No source: set the address of brokerd's admin port under Clusters, or that of a JMX "
            "exporter, with which the tab “Requests” shows what is received now."
        )
    return _(
        "No source: set the addresses of brokerd's admin ports under Clusters. Apache Kafka does "
        "not tell this by its protocol."
    )


def _parameters(chosen: str, compare: str, other: str) -> str:
    found = {"range": chosen, "compare": compare, "with": other}
    return urlencode({name: value for name, value in found.items() if value})
