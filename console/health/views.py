"""Endpoints for monitoring the console: /healthz, /readyz and /metrics.

They need no sign-in and contain no names of topics, groups or users.
"""

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db.models import Count
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from console.audit.access_log import responses_by_status
from console.live import snapshot_cache
from console.live.sample_status import ClusterProblems, SampleStatus
from console.ui import health_texts, numbers
from monitoring import health
from monitoring.models import Cluster, PipelineRun, PipelineState
from monitoring.pipeline.models import RunState
from monitoring.spark import probe


@login_not_required
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """This process answers."""
    return HttpResponse("ok\n", content_type="text/plain")


@login_not_required
@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """The states of all parts and clusters; 200 if all parts work, else 503.

    Problems of external systems (a broker, a webhook) are listed and do not cause a 503.
    """
    parts = health.current(spark_wait_s=probe.DEADLINE_S + 1)
    states = {part.name: health_texts.line(part) for part in parts}
    is_ready = all(part.is_ready for part in parts)
    if states["database"] == "ok":
        for slug in Cluster.objects.values_list("slug", flat=True):
            status = snapshot_cache.sample_status(slug)
            states[f"cluster {slug}"] = _sample_text(status)
            is_ready = is_ready and status.state not in ("stale", "unreadable")
    return JsonResponse(states, status=200 if is_ready else 503)


def _sample_text(status: SampleStatus) -> str:
    """The state of a cluster's samples, without addresses and names."""
    since = _(" since %(at)s") % {"at": numbers.moment(status.since_ms)} if status.since_ms else ""
    texts = {
        "ok": "ok",
        "none": _("has not been sampled yet"),
        "stale": _("no new samples") + since,
        "unreadable": _("samples cannot be read") + since,
        "gap": _("the cluster does not answer") + since,
    }
    if status.problems is None:
        return texts[status.state]
    return _("sampled, but ") + ", ".join(_problem_texts(status.problems)) + since


def _problem_texts(problems: ClusterProblems) -> list[str]:
    texts = [_("broker %(id)d does not answer") % {"id": row.id} for row in problems.brokers_down]
    if problems.zookeeper_since_ms:
        texts.append(_("ZooKeeper does not answer"))
    if n := problems.leaderless:
        text = ngettext("%(n)d partition has no leader", "%(n)d partitions have no leader", n)
        texts.append(text % {"n": n})
    if n := problems.groups_silent:
        text = ngettext("%(n)d group has no coordinator", "%(n)d groups have no coordinator", n)
        texts.append(text % {"n": n})
    if problems.refused:
        texts.append(_("some of its values are invalid and are ignored"))
    return texts


@login_not_required
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Prometheus metrics: responses of this process, the time of each cluster's newest sample, and
    the levels of its history."""
    lines = ["# TYPE aerie_http_requests_total counter"]
    lines += [
        f'aerie_http_requests_total{{status="{kind}"}} {n}'
        for kind, n in sorted(responses_by_status.items())
    ]
    lines += [
        "# TYPE aerie_tick_seconds gauge",
        f"aerie_tick_seconds {settings.AERIE_TICK_SECONDS}",
    ]
    lines += ["# TYPE aerie_sample_timestamp_seconds gauge", "# TYPE aerie_sample_up gauge"]
    for slug in Cluster.objects.values_list("slug", flat=True):
        status = snapshot_cache.sample_status(slug)
        lines.append(f'aerie_sample_up{{cluster="{slug}"}} {int(status.is_live)}')
        if status.at_ms is not None:
            at = status.at_ms / 1000
            lines.append(f'aerie_sample_timestamp_seconds{{cluster="{slug}"}} {at}')
    lines += _pipeline_metrics()
    content_type = "text/plain; version=0.0.4; charset=utf-8"
    return HttpResponse("\n".join(lines) + "\n", content_type=content_type)


_LEVEL_METRICS = {
    "bytes": "aerie_history_bytes",
    "files": "aerie_history_files",
    "rows": "aerie_history_rows",
}


def _pipeline_metrics() -> list[str]:
    """The levels of each cluster's history as the data pipeline last saw them."""
    states = list(PipelineState.objects.select_related("cluster"))
    failed = dict(
        PipelineRun.objects.filter(state=RunState.FAILED)
        .values_list("cluster__slug")
        .annotate(n=Count("pk"))
    )
    lines = ["# TYPE aerie_pipeline_waiting_hours gauge", "# TYPE aerie_pipeline_failed_jobs gauge"]
    for state in states:
        slug = state.cluster.slug
        lines.append(f'aerie_pipeline_waiting_hours{{cluster="{slug}"}} {state.waiting_hours}')
        lines.append(f'aerie_pipeline_failed_jobs{{cluster="{slug}"}} {failed.get(slug, 0)}')
    lines.append("# TYPE aerie_history_last_timestamp_seconds gauge")
    lines += [f"# TYPE {name} gauge" for name in _LEVEL_METRICS.values()]
    for state in states:
        for level, figures in state.levels.items():
            labels = f'{{cluster="{state.cluster.slug}",level="{level}"}}'
            if figures["last_ms"] is not None:
                at_s = figures["last_ms"] / 1000
                lines.append(f"aerie_history_last_timestamp_seconds{labels} {at_s}")
            lines += [f"{name}{labels} {figures[key]}" for key, name in _LEVEL_METRICS.items()]
    return lines
