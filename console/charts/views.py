"""The data of charts, as JSON. Pages load it after themselves (static/app/chart.js)."""

import logging
import time

from django.http import Http404, HttpResponse, JsonResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from console.accounts.decorators import requires
from console.accounts.error_texts import group_not_found, topic_not_found
from console.accounts.request_types import ClusterRequest
from console.charts import make_chart
from console.charts.chart_query import ChartQuery, InvalidQuery, parse
from console.charts.history_circuit_breaker import HistoryCircuitBreaker
from monitoring.clock import now_ms

log = logging.getLogger(__name__)
_circuit_breaker = HistoryCircuitBreaker()


@require_safe
@requires("cluster.view")
def chart(request: ClusterRequest, cluster: str) -> HttpResponse:
    """A chart (chart_query.py). 400 for an unknown parameter, 404 for what the user may not see."""
    try:
        query = parse(request.GET)
    except InvalidQuery as error:
        return JsonResponse({"error": str(error)}, status=400)
    if not make_chart.may_see(request.rights, query):
        raise Http404(_not_found(query))
    began_s = time.monotonic()
    if not _circuit_breaker.is_open(began_s):
        try:
            return JsonResponse(make_chart.chart(cluster, request.rights, query, now_ms()))
        except OSError as error:
            log.warning("a chart of %s: the stored history cannot be read: %s", cluster, error)
            _circuit_breaker.add_failure(began_s, time.monotonic())
    why = _("The stored history cannot be read. The log of the web process names the file.")
    return JsonResponse({"error": why}, status=503)


def _not_found(query: ChartQuery) -> str:
    if query.kind == "topic":
        return topic_not_found(query.topic)
    if query.kind == "group":
        return group_not_found(query.group)
    return _("This chart is for users who see all topics and groups of the cluster.")
