"""Whether the console works: /healthz and /readyz.

monitoring/readiness_checks.py checks the parts.

They need no sign-in and contain no names of topics, groups or users, as /metrics (metrics_view.py).
"""

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from console.live import snapshot_cache
from console.live.sample_status import Outages, SampleStatus
from console.ui import readiness_texts, times
from monitoring import readiness_checks
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
    """The states of all parts and clusters; 503 if a part does not work, or a cluster's samples
    are stale or cannot be read; else 200.

    Problems of external systems (a broker, a webhook) are listed and do not cause a 503.
    """
    parts = readiness_checks.current(spark_wait_s=probe.DEADLINE_S + 1)
    states = {part.name: readiness_texts.line(part) for part in parts}
    is_ready = all(part.is_ready for part in parts)
    if states["database"] == "ok":
        for slug in Cluster.objects.values_list("slug", flat=True):
            status = snapshot_cache.sample_status(slug)
            states[f"cluster {slug}"] = _sample_text(status)
            is_ready = is_ready and status.state not in ("stale", "unreadable")
    return JsonResponse(states, status=200 if is_ready else 503)


def _sample_text(status: SampleStatus) -> str:
    """The state of a cluster's samples, without addresses and names."""
    since = _(" since %(at)s") % {"at": times.moment(status.since_ms)} if status.since_ms else ""
    texts = {
        "ok": "ok",
        "none": _("has not been sampled yet"),
        "stale": _("no new samples") + since,
        "unreadable": _("samples cannot be read") + since,
        "gap": _("the cluster does not answer") + since,
    }
    if status.outages is None:
        return texts[status.state]
    return _("sampled, but ") + ", ".join(_outage_texts(status.outages)) + since


def _outage_texts(outages: Outages) -> list[str]:
    texts = [_("broker %(id)d does not answer") % {"id": row.id} for row in outages.brokers_down]
    if outages.zookeeper_since_ms:
        texts.append(_("ZooKeeper does not answer"))
    if n := outages.leaderless:
        text = ngettext("%(n)d partition has no leader", "%(n)d partitions have no leader", n)
        texts.append(text % {"n": n})
    if n := outages.groups_silent:
        text = ngettext(
            "the coordinator of %(n)d group does not answer",
            "the coordinators of %(n)d groups do not answer",
            n,
        )
        texts.append(text % {"n": n})
    if outages.invalid:
        texts.append(_("some of its values are invalid and are ignored"))
    return texts
