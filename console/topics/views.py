"""The topics of a cluster: list and detail. Changes are made in console/topics/changes/."""

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from console.accounts.access import requires
from console.accounts.requests import ClusterRequest
from console.live import snapshot_cache
from console.topics import settings_table
from console.topics.topic_context import frame
from console.ui.table import Column, Table
from console.ui.texts import sentence
from monitoring.gateway.errors import GatewayError
from monitoring.gateway.gateway import for_cluster

PARTITIONS_PAGE_SIZE = 200


def columns() -> list[Column]:
    return [
        Column("name", _("Topic"), lambda row: row.name),
        Column("partitions", _("Partitions"), lambda row: row.partitions, numeric=True),
        Column(
            "replication", _("Replication"), lambda row: row.replication, numeric=True
        ),
        Column("offsets", _("Offsets"), lambda row: row.offsets, numeric=True),
        Column("size", _("Size"), lambda row: row.size_bytes, numeric=True),
        Column("rate", _("Messages in"), lambda row: row.messages_rate, numeric=True),
        Column("bytes", _("Bytes in"), lambda row: row.bytes_in_rate, numeric=True),
        Column("groups", _("Groups"), lambda row: row.groups, numeric=True),
        Column("health", _("Health"), lambda row: -row.offline * 1000 - row.under_replicated),
    ]


@require_safe
@requires("topic.view")
def index(request: ClusterRequest, cluster: str) -> HttpResponse:
    shown = snapshot_cache.snapshot(cluster, request.rights)
    rows = shown.topics if shown else []
    internal = request.GET.get("internal") == "1"
    if not internal:
        rows = [row for row in rows if not row.is_internal]
    table = Table.of(request.GET, columns(), "name", id="topics").show(rows, lambda row: row.name)
    context = {
        "table": table,
        "at_ms": shown.at_ms if shown else None,
        "internal": internal,
        "internal_url": table.url(internal=None if internal else "1", page=None),
        "may_create": request.rights.may("topic.create") and not request.cluster.read_only,
    }
    return render(request, "topics/index.html", context)


@require_safe
@requires("topic.view", resource="topic")
def overview(request: ClusterRequest, cluster: str, topic: str) -> HttpResponse:
    context = frame(request, topic, "overview")
    rows = context["shown"].partitions(topic) if context["shown"] else []
    columns = [
        Column("partition", _("Partition"), lambda row: row.partition, numeric=True),
        Column("leader", _("Leader"), lambda row: row.leader, numeric=True),
        Column("replicas", _("Replicas")),
        Column("start", _("Log start offset"), lambda row: row.log_start_offset, numeric=True),
        Column("end", _("End offset"), lambda row: row.log_end_offset, numeric=True),
        Column("offsets", _("Offsets"), lambda row: row.offsets, numeric=True),
        Column("size", _("Size"), lambda row: row.size_bytes, numeric=True),
        Column("rate", _("Messages in"), lambda row: row.messages_rate, numeric=True),
        Column("open", ""),
    ]
    table = Table.of(
        request.GET, columns, "partition", id="partitions", page_size=PARTITIONS_PAGE_SIZE
    )
    context["table"] = table.show(rows, lambda row: str(row.partition))
    return render(request, "topics/overview.html", context)


@require_safe
@requires("topic.view", resource="topic")
def config(request: ClusterRequest, cluster: str, topic: str) -> HttpResponse:
    """The topic's settings, asked of the brokers now."""
    context, status = frame(request, topic, "config"), 200
    try:
        with for_cluster(request.cluster) as gateway:
            entries = gateway.admin.describe_configs(topic)
        context |= settings_table.build(request.GET, entries)
    except GatewayError as error:
        context["error"] = sentence(error.message)
        status = 503 if error.retriable else 502
    return render(request, "topics/config.html", context, status=status)


@require_safe
@requires("group.view")
@requires("topic.view", resource="topic")
def consumers(request: ClusterRequest, cluster: str, topic: str) -> HttpResponse:
    context = frame(request, topic, "consumers")
    rows = context["shown"].readers(topic) if context["shown"] else []
    columns = [
        Column("group", _("Group"), lambda row: row.group),
        Column("state", _("State"), lambda row: row.state),
        Column("partitions", _("Partitions"), lambda row: row.partitions, numeric=True),
        Column("members", _("Members"), lambda row: row.members, numeric=True),
        Column("lag", _("Lag"), lambda row: row.lag, numeric=True),
    ]
    table = Table.of(request.GET, columns, "-lag", id="readers")
    context["table"] = table.show(rows, lambda row: row.group)
    return render(request, "topics/consumers.html", context)
