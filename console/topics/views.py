"""The topics of a cluster: list and detail. Changes: console/topics/action_views.py."""

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from console.accounts.decorators import requires
from console.accounts.request_types import ClusterRequest
from console.charts import cards
from console.charts.chart_query import ChartQuery
from console.live.page_renderer import LivePart, render_live
from console.topics.configure_form import ConfigureForm
from console.topics.topic_context import topic_context
from console.ui import settings_table
from console.ui.csv_export import page_or_csv
from console.ui.error_status import http_status_of
from console.ui.texts import sentence
from monitoring.gateway.errors import GatewayError
from monitoring.gateway.gateway import for_cluster


@require_safe
@requires("topic.view")
def index(request: ClusterRequest, cluster: str) -> HttpResponse:
    return render_live(request, "topics/index.html", LivePart(request, "topics"))


@require_safe
@requires("topic.view", resource="topic")
def overview(request: ClusterRequest, cluster: str, topic: str) -> HttpResponse:
    part = LivePart(request, "topic", topic)
    shared_context = topic_context(request, topic, "overview")
    shown = ("records", "bytes", "size")
    shared_context |= cards.context(
        request, [ChartQuery("topic", show, topic=topic) for show in shown]
    )
    return render_live(request, "topics/overview.html", part, **shared_context)


@require_safe
@requires("topic.view", resource="topic")
def config(request: ClusterRequest, cluster: str, topic: str) -> HttpResponse:
    """The topic's settings, read from the brokers: a form for those who may change them.

    In the query, `view=table` is the table, also for them.
    """
    context, status = topic_context(request, topic, "config"), 200
    try:
        with for_cluster(request.cluster) as gateway:
            entries = gateway.topics.describe_configs(topic)
        context |= settings_table.build(request.GET, entries)
        if context["may_configure"] and request.GET.get("view") != "table":
            context["form"] = ConfigureForm(data=None, entries=entries)
    except GatewayError as error:
        context["error"] = sentence(error.message)
        status = http_status_of(error)
    return page_or_csv(request, "topics/config.html", context, status=status)


@require_safe
@requires("group.view")
@requires("topic.view", resource="topic")
def consumers(request: ClusterRequest, cluster: str, topic: str) -> HttpResponse:
    part = LivePart(request, "readers", topic)
    shared_context = topic_context(request, topic, "consumers")
    return render_live(request, "topics/consumers.html", part, **shared_context)
