"""Waits until the cluster has made a change: each partition has a leader, or another condition."""

import time
from collections.abc import Callable

from django.utils.translation import gettext as _

from console.actions.action_type import ApplyProgress
from console.actions.draft import Step
from monitoring.error_reason import Reason
from monitoring.gateway.errors import GatewayError
from monitoring.gateway.gateway import Gateway

WAIT_SECONDS = 20.0
_LEADERS = "leaders"


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
