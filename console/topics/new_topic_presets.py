"""The initial values of the form of a new topic: a preset, or a copy of another topic."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from console.ui.setting_texts import TOPIC_SOURCE
from monitoring.gateway.gateway import Gateway


@dataclass(frozen=True, slots=True)
class Preset:
    """Initial values of CreateTopicForm."""

    title: Promise
    text: Promise
    initial: Mapping[str, Any]


PRESETS: Mapping[str, Preset] = {
    "events": Preset(
        _("Events"),
        _("Kept for 7 days."),
        {"cleanup": "delete", "retention_hours": 7 * 24},
    ),
    "changelog": Preset(
        _("Changelog"),
        _("Compacted: the newest record of each key is kept."),
        {"cleanup": "compact"},
    ),
    "short-lived": Preset(
        _("Short-lived"),
        _("Kept for one hour, in segments of 10 minutes."),
        {"cleanup": "delete", "retention_hours": 1, "settings": "segment.ms=600000"},
    ),
    "audit": Preset(
        _("Audit"),
        _("Kept for good."),
        {"cleanup": "delete", "retention_hours": -1},
    ),
}


def initial_values_like(gateway: Gateway, topic: str) -> dict[str, Any]:
    """The initial values for a topic like this one, with its own settings. Raises GatewayError."""
    found = gateway.topics.describe_topic(topic)
    own = [
        f"{entry.name}={entry.value}"
        for entry in gateway.topics.describe_configs(topic)
        if entry.source == TOPIC_SOURCE
        and not (entry.is_sensitive or entry.is_read_only)
        # These name the partitions and brokers of a reassignment.
        and not entry.name.endswith(".replication.throttled.replicas")
    ]
    return {
        "partitions": len(found.partitions),
        "replication": len(found.partitions[0].replicas) if found.partitions else 1,
        "settings": "\n".join(own),
    }
