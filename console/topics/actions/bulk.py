"""Changes to several topics in one plan: each topic is an item that can fail alone.

Parameters: `names`, and what the subclass adds. The resource of such a plan is a short text of the
names; the rights are checked for every topic.
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from django.utils.translation import gettext as _

from console.actions.action_type import ITEMS, EndedItem, ItemsAction, Params
from console.actions.draft import Change, Draft, Facts, Figure, PlanRefused, Proposal
from console.actions.models import Plan
from console.topics.actions.affected_groups import groups_reading_each
from console.topics.actions.purge import TopicLogs, read_logs, why_not_purgeable
from console.topics.actions.topic_target import TOPIC_TARGET, names_as_resource
from console.topics.changeable_topics import refuse_unchangeable
from console.topics.setting_warnings import retention_warnings
from console.ui import numbers
from console.ui.setting_texts import TOPIC_SOURCE, meaning
from console.ui.texts import sentence
from monitoring.gateway.errors import GatewayError, NotFound, Refused
from monitoring.gateway.gateway import Gateway
from monitoring.read_model.snapshot import Snapshot

TOPICS_MAX = 200


class BulkAction(ItemsAction):
    """The base class of changes to several topics."""

    target_type = TOPIC_TARGET
    form_page = "topics"
    has_target_page = False  # its form is the list
    typed_word: ClassVar[str] = ""  # to be typed before the number of topics; empty = nothing

    def targets(self, resource: str, params: Params) -> list[str]:
        return list(params.get("names") or [resource])

    def items(self, params: Params) -> list[str]:
        return list(params.get("names") or ())

    def read_facts(self, gateway: Gateway, params: Params) -> Facts:
        return {ITEMS: {name: self._read(gateway, name, params) for name in params["names"]}}

    def differences(self, then: Facts, now: Facts) -> list[str]:
        text = _("“%(name)s” changed since the review.")
        return [text % {"name": name} for name in self.changed_items(then, now)]

    def apply_items(self, gateway: Gateway, params: Params, keys: list[str]) -> Iterator[EndedItem]:
        for name in keys:
            try:
                self.apply_topic(gateway, name, params)
            except GatewayError as error:
                yield EndedItem(name, error.message)
            else:
                yield EndedItem(name)

    def check(self, facts: Facts, params: Params) -> None:
        """Raises PlanRefused if one of the topics cannot be changed."""
        for name, found in facts[ITEMS].items():
            refuse_unchangeable(name)
            if found is None:
                raise PlanRefused(_("There is no topic “%(name)s”.") % {"name": name})

    def typed_text(self, params: Params) -> str:
        return f"{self.typed_word} {len(params['names'])}" if self.typed_word else ""

    def _read(self, gateway: Gateway, name: str, params: Params) -> Mapping[str, Any] | None:
        try:
            return self.read_topic(gateway, name, params)
        except NotFound:
            return None

    @abstractmethod
    def read_topic(self, gateway: Gateway, name: str, params: Params) -> Mapping[str, Any]:
        """The facts of one topic. Raises GatewayError."""

    @abstractmethod
    def apply_topic(self, gateway: Gateway, name: str, params: Params) -> None:
        """Change one topic. Raises GatewayError."""


class DeleteTopics(BulkAction):
    action = "topics.delete"
    verb = "topic.delete"
    typed_word = "delete"

    def title(self, resource: str) -> str:
        return _("Delete topics")

    def confirm_label(self) -> str:
        return _("Delete permanently")

    def read_topic(self, gateway: Gateway, name: str, params: Params) -> Mapping[str, Any]:
        found = gateway.topics.describe_topic(name)
        return {"topic_id": found.topic_id, "partitions": len(found.partitions)}

    def draft(self, facts: Facts, params: Params, snapshot: Snapshot | None) -> Draft:
        self.check(facts, params)
        names = params["names"]
        rows = {name: snapshot.topic(name) if snapshot else None for name in names}
        return Draft(
            title=_("Delete %(n)d topics") % {"n": len(names)},
            changes=[
                Change(name, numbers.size(row.size_bytes if row else None), _("deleted"))
                for name, row in rows.items()
            ],
            affected=groups_reading_each(names, snapshot),
            warnings=[_("All records of these topics are deleted. This cannot be undone.")],
            typed_name=self.typed_text(params),
            before=dict(facts[ITEMS]),
        )

    def apply_topic(self, gateway: Gateway, name: str, params: Params) -> None:
        gateway.topics.delete_topic(name)


class PurgeTopics(BulkAction):
    """`offsets`: topic → partition (as text) → the first offset that is kept."""

    action = "topics.purge"
    verb = "topic.purge"
    typed_word = "purge"

    def title(self, resource: str) -> str:
        return _("Purge topics")

    def confirm_label(self) -> str:
        return _("Delete records")

    def read_topic(self, gateway: Gateway, name: str, params: Params) -> Mapping[str, Any]:
        logs = read_logs(gateway, name)
        return {"topic_id": logs.topic_id, "policy": logs.policy}

    def draft(self, facts: Facts, params: Params, snapshot: Snapshot | None) -> Draft:
        self.check(facts, params)
        names = params["names"]
        for name in names:
            if reason := why_not_purgeable(name, facts[ITEMS][name]["policy"]):
                raise PlanRefused(reason)
        counts = {name: params["counts"][name] for name in names}
        return Draft(
            title=_("Delete all records of %(n)d topics") % {"n": len(names)},
            changes=[
                Change(name, _("%(n)s records") % {"n": numbers.count(count)}, "0")
                for name, count in counts.items()
            ],
            figures=[
                Figure(_("Records"), numbers.count(sum(counts.values()))),
                Figure(_("Topics"), numbers.count(len(names))),
            ],
            affected=groups_reading_each(names, snapshot),
            warnings=[
                _("The records are deleted. This cannot be undone."),
                _("Records written after this review are kept."),
            ],
            typed_name=self.typed_text(params),
            before=counts,
            after=dict(params["offsets"]),
        )

    def apply_topic(self, gateway: Gateway, name: str, params: Params) -> None:
        offsets = {int(number): offset for number, offset in params["offsets"][name].items()}
        errors = gateway.topics.delete_records(name, offsets) if offsets else {}
        for error in errors.values():
            raise Refused(error)


class ConfigureTopics(BulkAction):
    """`configs`: topic → setting → new value (None = use the default)."""

    action = "topics.configure"
    verb = "topic.configure"

    def title(self, resource: str) -> str:
        return _("Change a setting of topics")

    def confirm_label(self) -> str:
        return _("Change setting")

    def read_topic(self, gateway: Gateway, name: str, params: Params) -> Mapping[str, Any]:
        """Values and sources, and the error of the brokers' validation (`objection`)."""
        configs = params["configs"][name]
        entries = [each for each in gateway.topics.describe_configs(name) if each.name in configs]
        facts = {
            "topic_id": gateway.topics.describe_topic(name).topic_id,
            "values": {each.name: [each.value, each.source] for each in entries},
            "inherited": {each.name: each.inherited for each in entries},
            "locked": [each.name for each in entries if each.is_sensitive or each.is_read_only],
            "objection": "",
        }
        try:
            gateway.topics.alter_configs(name, configs, validate_only=True)
        except Refused as error:
            facts["objection"] = sentence(error.message)
        return facts

    def draft(self, facts: Facts, params: Params, snapshot: Snapshot | None) -> Draft:
        self.check(facts, params)
        for name, found in facts[ITEMS].items():
            for setting in found["locked"]:
                text = _("“%(name)s” is read-only or sensitive. It cannot be changed here.")
                raise PlanRefused(text % {"name": setting})
            if found["objection"]:
                text = _("The brokers refuse it for “%(name)s”: %(why)s")
                raise PlanRefused(text % {"name": name, "why": found["objection"]})
        return Draft(
            title=_("Change settings of %(n)d topics") % {"n": len(params["names"])},
            changes=[
                Change(
                    f"{name} · {setting}",
                    (facts[ITEMS][name]["values"].get(setting) or [""])[0] or "",
                    _("default") if value is None else value,
                    meaning(setting, value),
                )
                for name, configs in params["configs"].items()
                for setting, value in configs.items()
            ],
            warnings=_retention_warnings(facts, params["configs"]),
            undo=_("Restore the earlier values, and remove the settings that the topics had not."),
            before={name: found["values"] for name, found in facts[ITEMS].items()},
            after=dict(params["configs"]),
        )

    def apply_topic(self, gateway: Gateway, name: str, params: Params) -> None:
        gateway.topics.alter_configs(name, params["configs"][name])

    def undo(self, plan: Plan) -> Proposal | None:
        earlier = {
            name: {
                setting: value if source == TOPIC_SOURCE else None
                for setting, (value, source) in found["values"].items()
            }
            for name, found in plan.facts.get(ITEMS, {}).items()
            if found and name in plan.applied_items
        }
        names = list(earlier)
        params = {"names": names, "configs": earlier}
        return Proposal(self.action, names_as_resource(names), params) if earlier else None


def purge_params(names: list[str], logs: Mapping[str, TopicLogs]) -> dict[str, Any]:
    """The parameters of PurgeTopics for all records of these topics."""
    return {
        "names": names,
        "offsets": {
            name: {str(number): log.stop for number, log in logs[name].logs.items() if len(log)}
            for name in names
        },
        "counts": {name: sum(map(len, logs[name].logs.values())) for name in names},
    }


def _retention_warnings(facts: Facts, configs: Mapping[str, Mapping[str, str | None]]) -> list[str]:
    """What a smaller retention of any of the topics deletes, each warning once."""
    found: dict[str, None] = {}
    for topic, changed in configs.items():
        item = facts[ITEMS][topic]
        before = {name: entry[0] for name, entry in item["values"].items()}
        after = {
            name: item.get("inherited", {}).get(name) if value is None else value
            for name, value in changed.items()
        }
        found.update(dict.fromkeys(retention_warnings(before, after)))
    return list(found)
