"""Change a dynamic setting of one broker or of all brokers, or remove it."""

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.actions.action_type import ActionType, ApplyProgress, Params, TargetType
from console.actions.draft import Change, Draft, Facts, PlanRefused, Proposal, Step
from console.actions.models import Plan
from console.ui.setting_texts import meaning
from console.ui.texts import sentence
from monitoring.gateway.errors import Refused
from monitoring.gateway.gateway import Gateway
from monitoring.read_model.snapshot import Snapshot

BROKER_TARGET = TargetType(
    view_verb="broker.view",
    page="broker-config",
    page_link=gettext_lazy("Go to the broker’s settings"),
    list_page="brokers",
    list_link=gettext_lazy("Go to the brokers"),
    heading=gettext_lazy("Brokers"),
)
_OWN_SOURCE = {False: "DYNAMIC_BROKER_CONFIG", True: "DYNAMIC_DEFAULT_BROKER_CONFIG"}


class ConfigureBroker(ActionType):
    """Parameters: `broker` (its id), `for_all` (whether the setting is for all brokers), and
    `configs` (setting → new value; None = remove)."""

    action = "broker.configure"
    verb = "broker.configure"
    target_type = BROKER_TARGET
    form_page = "broker-config"

    def title(self, resource: str) -> str:
        return _("Change a setting of broker %(id)s") % {"id": resource}

    def confirm_label(self) -> str:
        return _("Change setting")

    def read_facts(self, gateway: Gateway, params: Params) -> Facts:
        """By setting: `values` has the value that applies, `own` the one that is set where the
        change will set it. `objection` is the error of the broker's validation."""
        entries = {e.name: e for e in gateway.broker_configs.describe(params["broker"])}
        facts: dict[str, Any] = {"values": {}, "own": {}, "refused": [], "objection": ""}
        own = entries
        if params["for_all"]:
            of_all = gateway.broker_configs.describe(broker_id=None)
            own = {entry.name: entry for entry in of_all}
        for name in params["configs"]:
            entry = entries.get(name)
            if entry is None or entry.is_read_only or entry.is_sensitive:
                facts["refused"].append(name)
            facts["values"][name] = entry.value if entry else None
            has_own = name in own and own[name].source == _OWN_SOURCE[params["for_all"]]
            facts["own"][name] = own[name].value if has_own else None
        if not facts["refused"]:
            facts["objection"] = _validation_error(gateway, params)
        return facts

    def differences(self, then: Facts, now: Facts) -> list[str]:
        return [
            _("“%(name)s” is %(value)s now.") % {"name": name, "value": value or "—"}
            for name, value in now["values"].items()
            if (value, now["own"][name]) != (then["values"].get(name), then["own"].get(name))
        ]

    def draft(self, facts: Facts, params: Params, snapshot: Snapshot | None) -> Draft:
        if facts["refused"]:
            raise PlanRefused(
                _("“%(name)s” cannot be changed while the broker runs.")
                % {"name": facts["refused"][0]}
            )
        if facts["objection"]:
            raise PlanRefused(_("The brokers refuse it: %(why)s") % {"why": facts["objection"]})
        before, after = dict(facts["own"]), dict(params["configs"])
        if before == after:
            raise PlanRefused(_("The setting has this value already."))
        scope = _("all brokers") if params["for_all"] else _("this broker")
        changes = [
            Change(
                f"{name} ({scope})",
                before[name] or _("not set"),
                value or _("not set"),
                meaning(name, value),
            )
            for name, value in after.items()
        ]
        warnings = []
        if params["for_all"]:
            warnings = [_("A broker with a value of its own keeps that value.")]
        return Draft(
            title=self.title(str(params["broker"])),
            changes=changes,
            affected=[scope],
            warnings=warnings,
            undo=_("Restore the earlier value, or remove the setting if it was not set."),
            before=before,
            after=after,
        )

    def steps(self, params: Params) -> list[Step]:
        return [Step("configure", _("Changing the setting"))]

    def apply(self, gateway: Gateway, params: Params, progress: ApplyProgress) -> None:
        progress.start_step("configure")
        gateway.broker_configs.alter(_broker_id(params), params["configs"])

    def undo(self, plan: Plan) -> Proposal | None:
        if "own" not in plan.facts:
            return None
        params = {**plan.params, "configs": plan.facts["own"]}
        return Proposal(self.action, plan.resource, params)


def _broker_id(params: Params) -> int | None:
    """The broker whose setting is changed; None = all brokers."""
    return None if params["for_all"] else int(params["broker"])


def _validation_error(gateway: Gateway, params: Params) -> str:
    """Why the brokers refuse the change; "" = they do not."""
    try:
        gateway.broker_configs.alter(_broker_id(params), params["configs"], validate_only=True)
    except Refused as error:
        return sentence(error.message)
    return ""
