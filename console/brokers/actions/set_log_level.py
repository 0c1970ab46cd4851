"""Change the level of a logger of a broker."""

from django.utils.translation import gettext as _

from console.actions.action_type import ActionType, ApplyProgress, Params
from console.actions.draft import Change, Draft, Facts, PlanRefused, Proposal, Step
from console.actions.models import Plan
from console.brokers.actions.configure import BROKER_TARGET
from console.ui.texts import sentence
from monitoring.gateway.errors import Refused
from monitoring.gateway.gateway import Gateway
from monitoring.read_model.snapshot import Snapshot

_NOISY = ("TRACE", "DEBUG")


class SetLogLevel(ActionType):
    """Parameters: `broker` (its id), and `levels` (logger → level)."""

    action = "broker.set-log-level"
    verb = "broker.configure"
    target_type = BROKER_TARGET
    form_page = "broker-loggers"

    def title(self, resource: str) -> str:
        return _("Change a log level of broker %(id)s") % {"id": resource}

    def confirm_label(self) -> str:
        return _("Change log level")

    def read_facts(self, gateway: Gateway, params: Params) -> Facts:
        """The levels that the loggers have now, and the error of the broker's validation."""
        found = gateway.broker_configs.describe_loggers(params["broker"])
        levels = {entry.name: entry.value for entry in found}
        objection = ""
        try:
            gateway.broker_configs.alter_loggers(
                params["broker"], params["levels"], validate_only=True
            )
        except Refused as error:
            objection = sentence(error.message)
        return {
            "levels": {name: levels.get(name) for name in params["levels"]},
            "objection": objection,
        }

    def differences(self, then: Facts, now: Facts) -> list[str]:
        return [
            _("The level of “%(name)s” is %(value)s now.") % {"name": name, "value": value or "—"}
            for name, value in now["levels"].items()
            if value != then["levels"].get(name)
        ]

    def draft(self, facts: Facts, params: Params, snapshot: Snapshot | None) -> Draft:
        before, after = dict(facts["levels"]), dict(params["levels"])
        for name, level in before.items():
            if level is None:
                raise PlanRefused(_("The broker has no logger “%(name)s”.") % {"name": name})
        if before == after:
            raise PlanRefused(_("The logger has this level already."))
        if facts["objection"]:
            raise PlanRefused(_("The broker refuses it: %(why)s") % {"why": facts["objection"]})
        warnings = [_("The level holds until the broker restarts.")]
        if any(level in _NOISY for level in after.values()):
            warnings.append(_("This level can write very many lines and slow the broker down."))
        return Draft(
            title=self.title(str(params["broker"])),
            changes=[Change(name, before[name], level) for name, level in after.items()],
            affected=[_("this broker")],
            warnings=warnings,
            undo=_("Restore the earlier level."),
            before=before,
            after=after,
        )

    def steps(self, params: Params) -> list[Step]:
        return [Step("level", _("Changing the level"))]

    def apply(self, gateway: Gateway, params: Params, progress: ApplyProgress) -> None:
        progress.start_step("level")
        gateway.broker_configs.alter_loggers(params["broker"], params["levels"])

    def undo(self, plan: Plan) -> Proposal | None:
        if "levels" not in plan.facts:
            return None
        params = {**plan.params, "levels": plan.facts["levels"]}
        return Proposal(self.action, plan.resource, params)
