"""The charts of a page: their titles, and where each gets its data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _

from console.accounts.request_types import ClusterRequest
from console.charts import make_chart, measures, other_resource_field
from console.charts.chart_query import ChartQuery
from console.charts.time_ranges import COMPARE_TITLES, RANGES_MS, range_of
from monitoring.models import Cluster


@dataclass(frozen=True, slots=True)
class ChartCard:
    """A chart on a page: its title, its unit, the URL of its data, and why there may be none."""

    title: str
    unit: str
    src: str
    no_source: str = ""


def context(request: ClusterRequest, queries: Sequence[ChartQuery]) -> dict[str, Any]:
    """The context of templates/charts/: the charts that the user may see, and the time range.

    All charts of a page share the range and the comparisons in its URL.
    """
    chosen, compare = range_of(request.GET)
    visible_queries = [query for query in queries if make_chart.may_see(request.rights, query)]
    field = other_resource_field.field(request, visible_queries[0]) if visible_queries else None
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
    return {
        "charts": cards,
        "chart_range": chosen,
        "chart_ranges": [(name, "?" + _parameters(name, compare, other)) for name in RANGES_MS],
        "chart_compare": compare,
        "chart_compares": [
            (name, title, "?" + _parameters(chosen, "" if name == compare else name, other))
            for name, title in COMPARE_TITLES.items()
        ],
        "chart_other": field,
        "chart_alone": "?" + _parameters(chosen, compare, ""),
    }


def _no_source(cluster: Cluster, query: ChartQuery) -> str:
    """What to set where a chart gets no new values; empty = it has a source.

    Only brokerd's admin port reports traffic, CPU and memory (gateway/brokerd_sample.py).
    """
    if query.show not in ("bytes", "requests", "cpu", "memory"):
        return ""
    is_of_broker = query.kind == "broker"
    ports = cluster.admin_urls
    if (str(query.broker) in ports) if is_of_broker else ports:
        return ""
    text = _(
        "No source: an admin can set the addresses of brokerd's admin ports under Clusters. "
        "Kafka's protocol does not report this."
    )
    if is_of_broker and query.show in ("bytes", "requests"):
        hint = _(
            "With the address of a metrics exporter, the tab “Requests” shows the current rates."
        )
        return f"{text} {hint}"
    return text


def _parameters(chosen: str, compare: str, other: str) -> str:
    found = {"range": chosen, "compare": compare, "with": other}
    return urlencode({name: value for name, value in found.items() if value})
