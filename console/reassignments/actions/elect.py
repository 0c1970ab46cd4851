"""Make preferred replicas the leaders of their partitions.

Parameters: `names` of the topics, and `partitions`: key → topic, partition, leader, preferred.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _

from console.actions.action_type import ITEMS, EndedItem, ItemsAction, Params
from console.actions.draft import Change, Draft, Facts, Figure, PlanRefused
from console.reassignments import current_replicas
from console.reassignments.actions.partitions_target import PARTITIONS_TARGET
from console.reassignments.current_replicas import Partition
from console.topics.actions.topic_target import names_as_resource
from console.topics.actions.wait_for_leaders import wait_until
from console.ui import numbers
from monitoring.error_reason import Reason
from monitoring.gateway.gateway import Gateway
from monitoring.gateway.topic_partition import TopicPartition, partition_key
from monitoring.read_model.snapshot import Snapshot


class ElectLeaders(ItemsAction):
    action = "topics.elect-leaders"
    verb = "topic.reassign"
    target_type = PARTITIONS_TARGET
    form_page = "reassignments"
    has_target_page = False

    def title(self, resource: str) -> str:
        return _("Elect preferred leaders")

    def confirm_label(self) -> str:
        return _("Elect leaders")

    def targets(self, resource: str, params: Params) -> list[str]:
        return list(params.get("names") or [resource])

    def items(self, params: Params) -> list[str]:
        return list(params.get("partitions") or ())

    def read_facts(self, gateway: Gateway, params: Params) -> Facts:
        metadata = gateway.wire.metadata()
        found = current_replicas.partitions(metadata, params["names"])
        return {
            ITEMS: {
                key: _fact(found.get((stored["topic"], stored["partition"])))
                for key, stored in params["partitions"].items()
            }
        }

    def differences(self, then: Facts, now: Facts) -> list[str]:
        text = _("The leader or the replicas of “%(name)s” changed since the review.")
        return [text % {"name": key} for key in self.changed_items(then, now)]

    def draft(self, facts: Facts, params: Params, snapshot: Snapshot | None) -> Draft:
        stored = params["partitions"]
        text = _("The preferred replica of “%(name)s”, broker %(id)d, is not in sync.")
        for key, fact in facts[ITEMS].items():
            if fact is None or not fact["in_sync"]:
                raise PlanRefused(text % {"name": key, "id": stored[key]["preferred"]})
        return Draft(
            title=_("Elect the preferred leaders of %(names)s")
            % {"names": names_as_resource(params["names"])},
            changes=[
                Change(key, _leader(each["leader"]), _leader(each["preferred"]))
                for key, each in stored.items()
            ],
            figures=[Figure(_("Leaders that change"), numbers.count(len(stored)))],
            affected=[_("Clients reconnect to the new leaders. No data is copied.")],
            before={key: each["leader"] for key, each in stored.items()},
            after={key: each["preferred"] for key, each in stored.items()},
        )

    def apply_items(self, gateway: Gateway, params: Params, keys: list[str]) -> Iterator[EndedItem]:
        stored = params["partitions"]
        partitions = {key: (stored[key]["topic"], stored[key]["partition"]) for key in keys}
        errors = gateway.reassignments.elect_leaders(list(partitions.values()))

        is_led: dict[str, bool] = {}  # key of a partition → its preferred replica leads it

        def all_led_or_failed() -> bool:
            found = current_replicas.partitions(gateway.wire.metadata(), params["names"])
            for key in keys:
                now = found.get(partitions[key])
                is_led[key] = now is not None and now.leader == stored[key]["preferred"]
            return all(is_led[key] or partitions[key] in errors for key in keys)

        wait_until(all_led_or_failed)
        for key in keys:
            not_elected = "" if is_led[key] else Reason("leader_not_elected")
            yield EndedItem(key, errors.get(partitions[key], not_elected))


def not_led_by_preferred(
    found: Mapping[TopicPartition, Partition],
) -> dict[TopicPartition, Partition]:
    """The partitions whose preferred replica is in sync and does not lead."""
    return {
        key: each
        for key, each in found.items()
        if each.replicas and each.leader != each.replicas[0] and each.replicas[0] in each.isr
    }


def params_of(found: Mapping[TopicPartition, Partition]) -> dict[str, Any]:
    """The parameters of a plan that elects leaders for these partitions."""
    return {
        "names": sorted({topic for topic, _number in found}),
        "partitions": {
            partition_key(topic, number): {
                "topic": topic,
                "partition": number,
                "leader": each.leader,
                "preferred": each.replicas[0],
            }
            for (topic, number), each in found.items()
        },
    }


def _fact(found: Partition | None) -> dict[str, Any] | None:
    if found is None:
        return None
    preferred = found.replicas[0] if found.replicas else -1
    in_sync = preferred in found.isr
    return {"topic_id": found.topic_id, "leader": found.leader, "preferred": preferred} | {
        "in_sync": in_sync
    }


def _leader(broker: int) -> str:
    return _("broker %(id)d") % {"id": broker} if broker >= 0 else _("none")
