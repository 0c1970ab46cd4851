"""Change settings of a topic, or remove them so that the default applies."""

from django.utils.translation import gettext as _

from console.actions.action_type import ActionType, ApplyProgress, Params
from console.actions.draft import Change, Draft, Facts, PlanRefused, Proposal, Step
from console.actions.models import Plan
from console.topics.actions import changes_since_review
from console.topics.actions.topic_facts import read_existing
from console.topics.actions.topic_target import TOPIC_TARGET
from console.topics.changeable_topics import refuse_unchangeable
from console.topics.setting_warnings import retention_warnings
from console.ui.setting_texts import TOPIC_SOURCE, meaning
from console.ui.texts import sentence
from monitoring.gateway.errors import Refused
from monitoring.gateway.gateway import Gateway
from monitoring.read_model.snapshot import Snapshot


class ConfigureTopic(ActionType):
    """Parameters: `name`, and `configs` (setting → new value; None = remove)."""

    action = "topic.configure"
    verb = "topic.configure"
    target_type = TOPIC_TARGET
    form_page = "topic-configure"

    def title(self, resource: str) -> str:
        return _("Change settings of “%(name)s”") % {"name": resource}

    def confirm_label(self) -> str:
        return _("Change settings")

    def read_facts(self, gateway: Gateway, params: Params) -> Facts:
        """The current values and sources, and the error of the brokers' validation."""
        topic, configs = params["name"], params["configs"]
        found = {entry.name: entry for entry in gateway.topics.describe_configs(topic)}
        values = {
            name: [found[name].value, found[name].source] if name in found else None
            for name in configs
        }
        locked = [
            name
            for name in configs
            if name in found and (found[name].is_sensitive or found[name].is_read_only)
        ]
        facts = {**read_existing(gateway, params), "values": values, "objection": ""}
        if locked:
            return {**facts, "locked": locked}
        facts["inherited"] = {name: found[name].inherited for name in values if name in found}
        try:
            gateway.topics.alter_configs(topic, configs, validate_only=True)
        except Refused as error:
            facts["objection"] = sentence(error.message)
        return facts

    def differences(self, then: Facts, now: Facts) -> list[str]:
        lines = changes_since_review.of_existing_topic(then, now)
        for name, entry in now["values"].items():
            if entry != then["values"].get(name):
                value = entry[0] if entry else "—"
                lines.append(_("“%(name)s” is %(value)s now.") % {"name": name, "value": value})
        return lines

    def draft(self, facts: Facts, params: Params, snapshot: Snapshot | None) -> Draft:
        topic, configs = params["name"], params["configs"]
        refuse_unchangeable(topic)
        if facts.get("locked"):
            text = _("“%(name)s” is read-only or sensitive. It cannot be changed here.")
            raise PlanRefused(text % {"name": facts["locked"][0]})
        if facts["objection"]:
            raise PlanRefused(_("The brokers refuse it: %(why)s") % {"why": facts["objection"]})
        before = {name: entry[0] if entry else None for name, entry in facts["values"].items()}
        inherited = facts.get("inherited", {})
        effective = {
            name: inherited.get(name) if value is None else value for name, value in configs.items()
        }
        changes = [
            Change(
                name,
                before[name] or "",
                _after(value, inherited.get(name)),
                _meanings(name, before[name], effective[name]),
            )
            for name, value in configs.items()
        ]
        return Draft(
            title=self.title(topic),
            changes=changes,
            warnings=retention_warnings(before, effective),
            undo=_("Restore the earlier values, and remove the settings that the topic had not."),
            before=before,
            after=dict(configs),
        )

    def steps(self, params: Params) -> list[Step]:
        return [Step("configure", _("Changing the settings"))]

    def apply(self, gateway: Gateway, params: Params, progress: ApplyProgress) -> None:
        progress.start_step("configure")
        gateway.topics.alter_configs(params["name"], params["configs"])

    def undo(self, plan: Plan) -> Proposal | None:
        values = plan.facts.get("values")
        if not values:
            return None
        earlier = {
            name: entry[0] if entry and entry[1] == TOPIC_SOURCE else None
            for name, entry in values.items()
        }
        return Proposal(self.action, plan.resource, {"name": plan.resource, "configs": earlier})


def _meanings(name: str, before: str | None, after: str | None) -> str:
    """What the values are in a readable unit."""
    then, now = meaning(name, before), meaning(name, after)
    return f"{then} → {now}" if then and now else now


def _after(value: str | None, inherited: str | None) -> str:
    if value is not None:
        return value or _("(empty)")
    if inherited is None:
        return _("default")
    return _("default: %(value)s") % {"value": inherited}
