"""Write records to a topic: the records of a form or of a file.

Parameters: `name`, `contents` (the id of WaitingRecords), `compression`, `sha256`, `hashed`
("value" or "file"), `schemas` ("key" or "value" → title), and those of `records_as_text.summary`.
An item is one record, or a range of them if there are over 1,000.
"""

from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _

from console.actions.action_type import ITEMS, EndedItem, ItemsAction, Params, StopPoint
from console.actions.draft import Change, Draft, Facts, Figure, PlanRefused
from console.actions.models import Plan
from console.produce import draft_texts, records_as_text, write_outcome
from console.produce.models import KEPT
from console.produce.writer import Writer, decrypted_records, waiting_records
from console.topics.actions import changes_since_review
from console.topics.actions.affected_groups import groups_reading
from console.topics.actions.topic_facts import read_existing
from console.topics.actions.topic_target import TOPIC_TARGET
from console.ui import numbers
from monitoring.gateway.gateway import Gateway
from monitoring.read_model.snapshot import Snapshot

_AUDITED = ("count", "size_bytes", "sha256", "compression")
CLEANUP_POLICY, BYTES_MAX = "policy", "bytes_max"
_CONFIGS = {"cleanup.policy": CLEANUP_POLICY, "max.message.bytes": BYTES_MAX}


class WriteRecords(ItemsAction):
    action = "record.write"
    verb = "record.write"
    target_type = TOPIC_TARGET
    typed_kept = KEPT
    form_page = "record-write"
    lists_items = False
    can_stop = True

    def title(self, resource: str) -> str:
        return _("Write records to “%(name)s”") % {"name": resource}

    def confirm_label(self) -> str:
        return _("Write records")

    def read_facts(self, gateway: Gateway, params: Params) -> Facts:
        return {**read_target(gateway, params["name"]), ITEMS: dict.fromkeys(self.items(params))}

    def compared(self, facts: Facts) -> Facts:
        """The topic's id, policy and number of partitions: with more, keys change partitions."""
        return {key: facts.get(key) for key in ("topic_id", "partitions", CLEANUP_POLICY)}

    def differences(self, then: Facts, now: Facts) -> list[str]:
        return target_differences(then, now)

    def draft(self, facts: Facts, params: Params, snapshot: Snapshot | None) -> Draft:
        name = params["name"]
        check_records(facts, params)
        return Draft(
            title=self.title(name),
            changes=[Change(*row) for row in draft_texts.rows(params)],
            figures=[
                Figure(_("Records"), numbers.count(params["count"])),
                Figure(_("Size"), numbers.size(params["size_bytes"]), _("keys, values, headers")),
                Figure(_("Largest record"), numbers.size(params["largest_bytes"])),
            ],
            affected=groups_reading(name, snapshot),
            warnings=draft_texts.warnings(facts, params),
            after=_audited(params),
        )

    def items(self, params: Params) -> list[str]:
        return [
            records_as_text.item_key(each) for each in records_as_text.item_ranges(params["count"])
        ]

    def apply_items(
        self, gateway: Gateway, params: Params, keys: list[str]
    ) -> Iterator[EndedItem | StopPoint]:
        waiting = waiting_records(params)
        records = decrypted_records(waiting)
        count = len(records)
        # With several copies of the records, the numbers go on through the copies.
        writer = Writer(gateway, params, waiting, lambda number: records[number % count])
        yield from writer.write(set(keys))
        waiting.delete_contents()

    def result_text(self, plan: Plan) -> str:
        return write_outcome.result_text(plan.params)

    def stopped_text(self, plan: Plan) -> str:
        return write_outcome.stopped_text(plan.params)

    def result_links(self, plan: Plan) -> list[tuple[str, str]]:
        return write_outcome.links(plan.cluster, plan.resource, plan.params)


def _audited(params: Params) -> dict[str, Any]:
    """What the audit log has of the records."""
    audited = {key: params[key] for key in _AUDITED}
    return audited | {"schemas": params["schemas"]} if params.get("schemas") else audited


def read_target(gateway: Gateway, topic: str) -> dict[str, Any]:
    """The facts of a topic that gets records."""
    values = {each.name: each.value for each in gateway.topics.describe_configs(topic)}
    configs = {key: values.get(name) for name, key in _CONFIGS.items()}
    return {**read_existing(gateway, {"name": topic}), **configs}


def target_differences(then: Facts, now: Facts) -> list[str]:
    """What changed since the review in the facts of `read_target`."""
    if now[CLEANUP_POLICY] != then[CLEANUP_POLICY]:
        return [_("Its cleanup.policy is “%(policy)s” now.") % {"policy": now[CLEANUP_POLICY]}]
    return changes_since_review.of_existing_topic(then, {**now, "replicas": then["replicas"]})


def check_records(facts: Facts, params: Params) -> None:
    """Raises PlanRefused if the topic does not take the records."""
    beyond = [number for number in params["partitions"] if number >= facts["partitions"]]
    if beyond:
        text = _("There is no partition %(name)s. The topic has %(n)d.")
        raise PlanRefused(text % {"name": beyond[0], "n": facts["partitions"]})
    if "compact" in (facts[CLEANUP_POLICY] or "") and params["without_key"]:
        raise PlanRefused(
            _("The topic is compacted: every record needs a key, and %(n)s have none.")
            % {"n": numbers.count(params["without_key"])}
        )
