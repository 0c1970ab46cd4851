"""What every page of a topic shows around its own content (templates/topics/base.html)."""

from typing import Any

from django.http import HttpRequest

from console.live import store
from console.topics.tabs import topic_tabs


def frame(request: HttpRequest, topic: str, active: str) -> dict[str, Any]:
    """Its name, its row and the whole snapshot (None before the first sample), tabs, rights."""
    shown = store.snapshot(request.cluster.slug, request.rights)
    row = shown.topic(topic) if shown else None
    return {
        "topic": topic,
        "row": row,
        "shown": shown,
        "at_ms": shown.at_ms if shown else None,
        "tabs": topic_tabs(request, topic, active, row),
        "may_alter": request.rights.may("topic.alter", topic),
        "may_delete": request.rights.may("topic.delete", topic),
    }
