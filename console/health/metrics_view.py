"""/metrics: the console's own figures, in the text format of Prometheus.

It needs no sign-in and contains no names of topics, groups or users.
"""

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from console.audit.access_log import responses_by_status
from console.health.cluster_sample_metrics import cluster_sample_metrics
from console.health.pipeline_metrics import pipeline_metrics
from console.health.prometheus_text import counter, gauge


@login_not_required
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Responses of this process, the time of each cluster's newest sample, and the data
    pipeline."""
    responses = sorted(responses_by_status.items())
    lines = [
        *counter("aerie_http_requests_total", (({"status": kind}, n) for kind, n in responses)),
        *gauge("aerie_tick_seconds", [({}, settings.AERIE_TICK_SECONDS)]),
        *cluster_sample_metrics(),
        *pipeline_metrics(),
    ]
    content_type = "text/plain; version=0.0.4; charset=utf-8"
    return HttpResponse("\n".join(lines) + "\n", content_type=content_type)
