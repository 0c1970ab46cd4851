"""For programs that watch the console: is it alive, is it ready, what are its figures.

All three answer without a sign-in and name no topic, group or person.
"""

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.core.cache import cache
from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from console.audit.middleware import answered
from console.live import store
from monitoring.models import Cluster


@login_not_required
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """This process answers."""
    return HttpResponse("ok\n", content_type="text/plain")


@login_not_required
@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """200 when the database and Redis answer, else 503; either way each part is named."""
    parts = {"database": _answers(_ask_database), "redis": _answers(_ask_redis)}
    status = 200 if all(value == "ok" for value in parts.values()) else 503
    return JsonResponse(parts, status=status)


def _ask_database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def _ask_redis() -> None:
    cache.get("readyz")


def _answers(ask) -> str:  # type: ignore[no-untyped-def]
    try:
        ask()
    except Exception as error:
        return f"does not answer ({type(error).__name__})"
    return "ok"


@login_not_required
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Prometheus text: requests answered by this process, and how old each cluster's sample is."""
    lines = ["# TYPE aerie_http_requests_total counter"]
    lines += [
        f'aerie_http_requests_total{{status="{kind}"}} {n}' for kind, n in sorted(answered.items())
    ]
    lines += [
        "# TYPE aerie_tick_seconds gauge",
        f"aerie_tick_seconds {settings.AERIE_TICK_SECONDS}",
    ]
    lines += ["# TYPE aerie_sample_timestamp_seconds gauge", "# TYPE aerie_sample_up gauge"]
    for slug in Cluster.objects.values_list("slug", flat=True):
        status = store.status(slug)
        lines.append(f'aerie_sample_up{{cluster="{slug}"}} {int(status.is_live)}')
        if status.at_ms is not None:
            at = status.at_ms / 1000
            lines.append(f'aerie_sample_timestamp_seconds{{cluster="{slug}"}} {at}')
    content_type = "text/plain; version=0.0.4; charset=utf-8"
    return HttpResponse("\n".join(lines) + "\n", content_type=content_type)
