"""The charts of a page: their titles, and where each gets its data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _

from console.accounts.requests import ClusterRequest
from console.charts import measures, services
from console.charts.query import RANGES_MS, Query, range_of
from monitoring.history.series import COMPARE_MS


@dataclass(frozen=True, slots=True)
class ChartCard:
    """A chart on a page, and the URL of its data."""

    title: str
    src: str


def context(request: ClusterRequest, queries: Sequence[Query]) -> dict[str, Any]:
    """For templates/charts/: the charts that the user may see, and the page's time range.

    All charts of a page share the range and the comparison in its URL.
    """
    chosen, compare = range_of(request.GET)
    url = reverse("chart", args=[request.cluster.slug])
    chart_range = urlencode({"range": chosen} | ({"compare": compare} if compare else {}))
    cards = [
        ChartCard(measures.titles()[query.show], f"{url}?{query.parameters()}&{chart_range}")
        for query in queries
        if services.may_see(request.rights, query)
    ]
    labels = {"yesterday": _("Yesterday"), "week": _("Last week")}
    return {
        "charts": cards,
        "chart_range": chosen,
        "chart_ranges": [(name, _link(name, compare)) for name in RANGES_MS],
        "chart_compare": compare,
        "chart_compares": [
            (name, labels[name], _link(chosen, "" if name == compare else name))
            for name in COMPARE_MS
        ],
    }


def _link(chosen: str, compare: str) -> str:
    return "?" + urlencode({"range": chosen} | ({"compare": compare} if compare else {}))
