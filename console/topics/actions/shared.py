"""What changes to topics share: type of target, facts, affected groups, waiting for the cluster."""

import time
from collections import Counter
from collections.abc import Callable

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from console.actions.action_type import ApplyProgress, Params, TargetType
from console.actions.draft import Facts, Step
from monitoring.gateway.errors import GatewayError
from monitoring.gateway.gateway import Gateway
from monitoring.read_model.snapshot import Snapshot
from monitoring.reasons import Reason
from monitoring.scope import ANY

WAIT_SECONDS = 20.0
_RESOURCE_LENGTH_MAX = 200
_LEADERS = "leaders"
TOPIC_TARGET = TargetType(
    view_verb="topic.view",
    page="topic",
    page_link=gettext_lazy("Go to the topic"),
    list_page="topics",
    list_link=gettext_lazy("Go to the topics"),
    heading=gettext_lazy("Topics"),
)


def read_existing(gateway: Gateway, params: Params) -> Facts:
    """The facts of an existing topic: id, partitions and replicas."""
    topic = gateway.topics.describe_topic(params["name"])
    return {
        "topic_id": topic.topic_id,  # differs if the topic was deleted and created again
        "partitions": len(topic.partitions),
        "replicas": [sorted(partition.replicas) for partition in topic.partitions],
    }


def names_as_resource(names: list[str]) -> str:
    """The names of several topics as the resource of a plan: one short text."""
    text = ", ".join(names)
    is_short = len(text) <= _RESOURCE_LENGTH_MAX
    return text if is_short else f"{text[:_RESOURCE_LENGTH_MAX]}… ({len(names)})"


def groups_reading(topic: str, snapshot: Snapshot | None) -> list[str]:
    """The groups that read the topic: one line per group."""
    if snapshot is None:
        return [_("The groups that read it are unknown: there is no sample of this cluster yet.")]
    lags = snapshot.lags(topic=topic)
    lines = []
    owned_by = Counter(row.group for row in lags if row.member_id is not None)
    for group in sorted({row.group for row in lags}):
        owned = owned_by[group]
        text = ngettext(
            "Group “%(group)s” is assigned %(n)d partition now",
            "Group “%(group)s” is assigned %(n)d partitions now",
            owned,
        )
        idle = _("Group “%(group)s” has committed offsets, but no members now")
        lines.append((text if owned else idle) % {"group": group, "n": owned})
    if ANY not in snapshot.scope.groups:
        return [*lines, _("Groups outside your scope may also read it.")]
    return lines or [_("No consumer group reads it.")]


def waiting_for_leaders() -> Step:
    return Step(_LEADERS, _("Waiting for leaders"))


def wait_for_leaders(gateway: Gateway, name: str, partitions: int, progress: ApplyProgress) -> None:
    """Wait until each partition has a leader. Raises GatewayError if one has none."""
    progress.start_step(_LEADERS)

    def all_led() -> bool:
        try:
            found = gateway.topics.describe_topic(name).partitions
        except GatewayError:
            return False
        return len(found) >= partitions and all(partition.leader >= 0 for partition in found)

    if not wait_until(all_led):
        raise GatewayError(Reason("topic_without_leaders"))


def wait_until(condition: Callable[[], bool]) -> bool:
    """Wait until the condition is true; False after WAIT_SECONDS."""
    deadline = time.monotonic() + WAIT_SECONDS
    pause = 0.05
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(pause)
        pause = min(1.0, pause * 2)
    return True
