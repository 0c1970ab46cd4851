"""The template context that all pages of a topic share (templates/topics/base.html)."""

from typing import Any

from django.http import Http404

from console.accounts.error_texts import topic_not_found
from console.accounts.request_types import ClusterRequest
from console.live import snapshot_cache
from console.topics.restrictions import may_reassign, why_not_changeable, why_not_writable
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
    may_change = not request.cluster.read_only and not why_not_changeable(topic)
    return {
        "topic": topic,
        "row": row,
        "snapshot": snapshot,
        "at_ms": snapshot.at_ms if snapshot else None,
        "tabs": topic_tabs(request, topic, active, row),
        "may_read": request.rights.may("record.read", topic),
        "may_write": may_write(request, topic),
        "may_alter": may_change and request.rights.may("topic.alter", topic),
        "may_configure": may_change and request.rights.may("topic.configure", topic),
        "may_clone": may_change and request.rights.may("topic.create"),
        "may_reassign": may_change and may_reassign(request.rights, snapshot, topic),
        "may_purge": may_change and request.rights.may("topic.purge", topic),
        "may_delete": may_change and request.rights.may("topic.delete", topic),
    }


def may_write(request: ClusterRequest, topic: str) -> bool:
    """Whether the user may write records to the topic."""
    return (
        not request.cluster.read_only
        and request.rights.may("record.write", topic)
        and not why_not_writable(request.cluster, topic)
    )


def _is_new(cluster: Cluster, topic: str) -> bool:
    """Whether the topic exists although the last sample does not have it yet."""
    try:
        with for_cluster(cluster) as gateway:
            return gateway.wire.has_topic(topic)
    except GatewayError:
        return False
