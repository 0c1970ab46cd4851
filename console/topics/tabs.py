"""The tabs of a topic's pages."""

from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from console.accounts.request_types import ClusterRequest
from monitoring.read_model.row_types import TopicRow

TABS = (
    ("overview", "topic", "topic.view"),
    ("messages", "messages", "record.read"),
    ("segments", "segments", "segment.view"),
    ("config", "topic-config", "topic.view"),
    ("consumers", "topic-consumers", "group.view"),
)


def topic_tabs(
    request: ClusterRequest, topic: str, active: str, row: TopicRow | None
) -> list[dict[str, Any]]:
    """The tabs for `{% tabs %}`: the pages of this topic that the user may open."""
    titles = {
        "overview": _("Overview"),
        "messages": _("Messages"),
        "segments": _("Segments"),
        "config": _("Configuration"),
        "consumers": _("Consumers"),
    }
    tabs = []
    for key, url_name, verb in TABS:
        name = None if verb == "group.view" else topic  # None = any group
        if request.rights.may(verb, name):
            args: list[Any] = [request.cluster.slug, topic]
            if key == "segments":
                args.append(0)  # partition 0
            tab = {
                "title": titles[key],
                "url": reverse(url_name, args=args),
                "active": key == active,
            }
            if key == "consumers" and row is not None:
                tab["count"] = row.groups
            tabs.append(tab)
    return tabs
