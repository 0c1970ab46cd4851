"""Set the compatibility of a subject (which changes of its schema it allows), or remove it."""

from django.utils.translation import gettext as _

from console.actions.action_type import ActionType, ApplyProgress, Params
from console.actions.draft import Change, Draft, Facts, PlanRefused, Proposal, Step
from console.actions.models import Plan
from console.schemas.actions.subject_target import SUBJECT_TARGET
from console.schemas.registry_error_mapping import raising_gateway_errors
from monitoring.gateway.gateway import Gateway
from monitoring.read_model.snapshot import Snapshot
from monitoring.schema_registry import subjects


class SetCompatibility(ActionType):
    """Parameters: `subject`, and `level` ("" = that of the registry)."""

    action = "schema.set-compatibility"
    verb = "schema.edit"
    target_type = SUBJECT_TARGET
    form_page = "schema-compatibility"

    def title(self, resource: str) -> str:
        return _("Change the compatibility of “%(name)s”") % {"name": resource}

    def confirm_label(self) -> str:
        return _("Change compatibility")

    def read_facts(self, gateway: Gateway, params: Params) -> Facts:
        with raising_gateway_errors():
            subject = subjects.read_subject(gateway.registry, params["subject"])
        return {"level": subject.compatibility, "default": subject.default}

    def draft(self, facts: Facts, params: Params, snapshot: Snapshot | None) -> Draft:
        before, after = facts["level"], params["level"]
        if before == after:
            raise PlanRefused(_("The subject has this compatibility already."))
        shown, wanted = (
            each or _registry_default_text(facts["default"]) for each in (before, after)
        )
        return Draft(
            title=self.title(params["subject"]),
            changes=[Change(_("Compatibility"), shown, wanted)],
            affected=[_("It applies to versions that are registered from then on.")],
            undo=_("Restore the earlier compatibility."),
            before={"compatibility": before},
            after={"compatibility": after},
        )

    def differences(self, then: Facts, now: Facts) -> list[str]:
        level = now["level"] or _registry_default_text(now["default"])
        return [_("The compatibility is %(level)s now.") % {"level": level}]

    def steps(self, params: Params) -> list[Step]:
        return [Step("compatibility", _("Changing the compatibility"))]

    def apply(self, gateway: Gateway, params: Params, progress: ApplyProgress) -> None:
        progress.start_step("compatibility")
        with raising_gateway_errors():
            subjects.set_compatibility(gateway.registry, params["subject"], params["level"])

    def undo(self, plan: Plan) -> Proposal | None:
        if "level" not in plan.facts:
            return None
        params = {"subject": plan.resource, "level": plan.facts["level"]}
        return Proposal(self.action, plan.resource, params)


def _registry_default_text(default: str) -> str:
    return _("%(level)s, of the registry") % {"level": default or "—"}
