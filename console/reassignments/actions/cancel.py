"""Cancel reassignments that are in progress, whoever started them.

Parameters: `names` of the topics, and `partitions`: key → topic, partition, replicas, adding and
removing, as ListPartitionReassignments returns them.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from django.utils.translation import gettext as _

from console.actions.action_type import ITEMS, EndedItem, ItemsAction, Params
from console.actions.draft import Change, Draft, Facts, PlanRefused
from console.reassignments import reassignment_draft
from console.reassignments.actions.partitions_target import PARTITIONS_TARGET
from console.topics.actions.topic_target import names_as_resource
from monitoring.gateway.gateway import Gateway
from monitoring.gateway.topic_partition import partition_key
from monitoring.gateway.wire.reassignments import Reassignment
from monitoring.read_model.snapshot import Snapshot


class CancelReassignments(ItemsAction):
    action = "topics.cancel-reassignment"
    verb = "topic.reassign"
    target_type = PARTITIONS_TARGET
    form_page = "reassignments"
    has_target_page = False

    def title(self, resource: str) -> str:
        return _("Cancel reassignments")

    def confirm_label(self) -> str:
        return _("Cancel reassignments")

    def targets(self, resource: str, params: Params) -> list[str]:
        return list(params.get("names") or [resource])

    def items(self, params: Params) -> list[str]:
        return list(params.get("partitions") or ())

    def read_facts(self, gateway: Gateway, params: Params) -> Facts:
        gateway.reassignments.check_supported()
        running = {
            partition_key(each.topic, each.partition): [[*each.adding], [*each.removing]]
            for each in gateway.reassignments.in_progress()
        }
        return {ITEMS: {key: running.get(key) for key in params["partitions"]}}

    def differences(self, then: Facts, now: Facts) -> list[str]:
        text = _("The reassignment of “%(name)s” changed or ended.")
        return [text % {"name": key} for key in self.changed_items(then, now)]

    def draft(self, facts: Facts, params: Params, snapshot: Snapshot | None) -> Draft:
        for key, fact in facts[ITEMS].items():
            if fact is None:
                raise PlanRefused(_("“%(name)s” is not being reassigned.") % {"name": key})
        changes = []
        for key, stored in params["partitions"].items():
            after = [broker for broker in stored["replicas"] if broker not in stored["adding"]]
            note = _("the copies on %(brokers)s are deleted") % {
                "brokers": reassignment_draft.ids(stored["adding"])
            }
            changes.append(
                Change(
                    key,
                    reassignment_draft.ids(stored["replicas"]),
                    reassignment_draft.ids(after),
                    note,
                )
            )
        names = names_as_resource(params["names"])
        return Draft(
            title=_("Cancel reassignments of %(names)s") % {"names": names},
            changes=changes,
            affected=[_("The partitions stay on the brokers that they were on.")],
            before=dict(facts[ITEMS]),
        )

    def apply_items(self, gateway: Gateway, params: Params, keys: list[str]) -> Iterator[EndedItem]:
        stored = params["partitions"]
        targets = {(stored[key]["topic"], stored[key]["partition"]): None for key in keys}
        errors = gateway.reassignments.alter(targets)
        error_by_key = {partition_key(*key): error for key, error in errors.items()}
        yield from (EndedItem(key, error_by_key.get(key, "")) for key in keys)


def params_of(running: Sequence[Reassignment]) -> dict[str, Any]:
    """The parameters of a plan that cancels these reassignments."""
    return {
        "names": sorted({each.topic for each in running}),
        "partitions": {
            partition_key(each.topic, each.partition): {
                "topic": each.topic,
                "partition": each.partition,
                "replicas": list(each.replicas),
                "adding": list(each.adding),
            }
            for each in running
        },
    }
