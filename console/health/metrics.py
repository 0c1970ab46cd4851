"""/metrics: the console's own figures, in the text format of Prometheus.

It needs no sign-in and contains no names of topics, groups or users.
"""

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from console.audit.access_log import responses_by_status
from console.live import snapshot_cache
from monitoring.history import history_disk
from monitoring.history.root_folder import current as history_root
from monitoring.models import Cluster, PipelineRun, PipelineState
from monitoring.pipeline.models import RunState


@login_not_required
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Responses of this process, the time of each cluster's newest sample, and the levels of its
    history."""
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
    """The levels of each cluster's history, as the data pipeline stored them last; and its disk."""
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
    if disk := history_disk.space(history_root()):
        for name, size_bytes in (("free", disk.free_bytes), ("size", disk.total_bytes)):
            lines.append(f"# TYPE aerie_history_disk_{name}_bytes gauge")
            lines.append(f"aerie_history_disk_{name}_bytes {size_bytes}")
    return lines
