"""For programs that watch the console: is it alive, is it ready, what are its figures.

All three answer without a sign-in and name no topic, group or person.
"""

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from console.audit.middleware import answered
from console.live import health_texts, snapshot_cache
from console.live.sample_status import Status, Troubles
from console.ui import numbers
from monitoring import health
from monitoring.models import Cluster
from monitoring.spark import probe


@login_not_required
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """This process answers."""
    return HttpResponse("ok\n", content_type="text/plain")


@login_not_required
@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """200 when every part works, else 503; either way each is named, and how each cluster stands.

    What only others can mend (a broker, a webhook) is said and leaves it at 200.
    """
    found = health.current(spark_wait_s=probe.DEADLINE_S + 1)
    told = {part.name: health_texts.line(part) for part in found}
    is_ready = all(part.is_ready for part in found)
    if told["database"] == "ok":
        for slug in Cluster.objects.values_list("slug", flat=True):
            status = snapshot_cache.status(slug)
            told[f"cluster {slug}"] = _sampled(status)
            is_ready = is_ready and status.state not in ("stale", "unreadable")
    return JsonResponse(told, status=200 if is_ready else 503)


def _sampled(status: Status) -> str:
    """How a cluster's samples stand. Addresses and names stay out of it."""
    since = _(" since %(at)s") % {"at": numbers.moment(status.since_ms)} if status.since_ms else ""
    said = {
        "ok": "ok",
        "none": _("has not been sampled yet"),
        "stale": _("no sample comes") + since,
        "unreadable": _("samples cannot be read") + since,
        "gap": _("the cluster does not answer") + since,
    }
    if status.troubles is None:
        return said[status.state]
    return _("sampled, but ") + ", ".join(_troubles(status.troubles)) + since


def _troubles(troubles: Troubles) -> list[str]:
    said = [_("broker %(id)d does not answer") % {"id": row.id} for row in troubles.brokers_down]
    if troubles.zookeeper_since_ms:
        said.append(_("ZooKeeper does not answer"))
    if n := troubles.leaderless:
        text = ngettext("%(n)d partition has no leader", "%(n)d partitions have no leader", n)
        said.append(text % {"n": n})
    if n := troubles.groups_silent:
        text = ngettext("%(n)d group has no coordinator", "%(n)d groups have no coordinator", n)
        said.append(text % {"n": n})
    if troubles.refused:
        said.append(_("some of what it tells cannot be true and is left out"))
    return said


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
        status = snapshot_cache.status(slug)
        lines.append(f'aerie_sample_up{{cluster="{slug}"}} {int(status.is_live)}')
        if status.at_ms is not None:
            at = status.at_ms / 1000
            lines.append(f'aerie_sample_timestamp_seconds{{cluster="{slug}"}} {at}')
    content_type = "text/plain; version=0.0.4; charset=utf-8"
    return HttpResponse("\n".join(lines) + "\n", content_type=content_type)
