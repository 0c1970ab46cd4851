"""Change the quotas of a user, a client id or an address."""

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.actions.action_type import ActionType, ApplyProgress, Params, TargetType
from console.actions.draft import Change, Draft, Facts, PlanRefused, Proposal, Step
from console.actions.models import Plan
from console.quotas.entities import title_of
from console.quotas.quota_rows import number_text
from console.ui.texts import sentence
from monitoring.gateway.errors import Refused
from monitoring.gateway.gateway import Gateway
from monitoring.gateway.wire.quotas import Entity
from monitoring.read_model.snapshot import Snapshot

QUOTA_TARGET = TargetType(
    view_verb="quota.edit",
    page="quotas",
    page_link=gettext_lazy("Go to the quotas"),
    list_page="quotas",
    list_link=gettext_lazy("Go to the quotas"),
    heading=gettext_lazy("Quotas"),
)


class ChangeQuotas(ActionType):
    """Parameters: `entity` (pairs of type and name, None = default), and `values` (quota → value;
    None = remove)."""

    action = "quota.change"
    verb = "quota.edit"
    target_type = QUOTA_TARGET
    form_page = "quotas"
    has_target_page = False  # its form has the entity in the query

    def title(self, resource: str) -> str:
        return _("Change quotas")

    def confirm_label(self) -> str:
        return _("Change quotas")

    def read_facts(self, gateway: Gateway, params: Params) -> Facts:
        """The quotas that the entity has now, and the error of the brokers' validation."""
        entity = _entity(params)
        now = next((q.values for q in gateway.quotas.describe() if q.entity == entity), {})
        objection = ""
        try:
            gateway.quotas.alter(entity, params["values"], validate_only=True)
        except Refused as error:
            objection = sentence(error.message)
        return {"values": {key: now.get(key) for key in params["values"]}, "objection": objection}

    def differences(self, then: Facts, now: Facts) -> list[str]:
        return [
            _("“%(name)s” is %(value)s now.") % {"name": key, "value": _value_text(value)}
            for key, value in now["values"].items()
            if value != then["values"].get(key)
        ]

    def draft(self, facts: Facts, params: Params, snapshot: Snapshot | None) -> Draft:
        before, after = dict(facts["values"]), dict(params["values"])
        if before == after:
            raise PlanRefused(_("The quotas have these values already."))
        if facts["objection"]:
            raise PlanRefused(_("The brokers refuse it: %(why)s") % {"why": facts["objection"]})
        entity = title_of(_entity(params))
        return Draft(
            title=_("Change quotas of %(entity)s") % {"entity": entity},
            changes=[
                Change(key, _value_text(before[key]), _value_text(value))
                for key, value in after.items()
                if before[key] != value
            ],
            affected=[_("Clients above a quota are slowed down. Each broker counts on its own.")],
            undo=_("Restore the earlier values, and remove the quotas that were not set."),
            before=before,
            after=after,
        )

    def steps(self, params: Params) -> list[Step]:
        return [Step("quotas", _("Changing the quotas"))]

    def apply(self, gateway: Gateway, params: Params, progress: ApplyProgress) -> None:
        progress.start_step("quotas")
        gateway.quotas.alter(_entity(params), params["values"])

    def undo(self, plan: Plan) -> Proposal | None:
        if "values" not in plan.facts:
            return None
        return Proposal(self.action, plan.resource, {**plan.params, "values": plan.facts["values"]})


def _entity(params: Params) -> Entity:
    return tuple((kind, name) for kind, name in params["entity"])


def _value_text(value: float | None) -> str:
    return _("not set") if value is None else number_text(value)
