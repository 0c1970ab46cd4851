"""The template context that all pages of a topic share (templates/topics/base.html)."""

from functools import partial
from typing import Any

from django.http import Http404

from console.accounts.error_texts import topic_not_found
from console.accounts.request_types import ClusterRequest
from console.live import snapshot_cache
from console.topics.changeable_topics import may_change
from console.topics.tabs import topic_tabs
from monitoring.gateway.errors import GatewayError
from monitoring.gateway.gateway import for_cluster
from monitoring.models import Cluster


def topic_context(request: ClusterRequest, topic: str, active: str) -> dict[str, Any]:
    """The topic's name, row, snapshot (None before the first sample), tabs and rights.

    Raises Http404 if the topic does not exist.
    """
    snapshot = snapshot_cache.snapshot(request.cluster.slug, request.rights)
    row = snapshot.topic(topic) if snapshot else None
    if snapshot is not None and row is None and not _is_new(request.cluster, topic):
        raise Http404(topic_not_found(topic))
    may = partial(may_change, request.rights, request.cluster, snapshot, name=topic)
    return {
        "topic": topic,
        "row": row,
        "snapshot": snapshot,
        "at_ms": snapshot.at_ms if snapshot else None,
        "tabs": topic_tabs(request, topic, active, row),
        "may_read": request.rights.may("record.read", topic),
        "may_write": may("record.write"),
        "may_alter": may("topic.alter"),
        "may_configure": may("topic.configure"),
        "may_create": may("topic.create"),  # a copy of it
        "may_reassign": may("topic.reassign"),
        "may_purge": may("topic.purge"),
        "may_delete": may("topic.delete"),
    }


def _is_new(cluster: Cluster, topic: str) -> bool:
    """Whether the topic exists although the last sample does not have it yet."""
    try:
        with for_cluster(cluster) as gateway:
            return gateway.wire.has_topic(topic)
    except GatewayError:
        return False
