"""Register a schema as the next version of a subject."""

from django.utils.translation import gettext as _

from console.actions.action_type import ActionType, ApplyProgress, Params
from console.actions.draft import Change, Draft, Facts, PlanRefused, Proposal, Step
from console.actions.models import Plan
from console.schemas.actions.delete_version import DELETE_VERSION
from console.schemas.actions.schema_in_plan import changed_lines, params_of, schema_of
from console.schemas.actions.subject_target import SUBJECT_TARGET
from console.schemas.registry_error_mapping import raising_gateway_errors
from console.ui.texts import sentence
from monitoring.gateway.errors import Refused
from monitoring.gateway.gateway import Gateway
from monitoring.read_model.snapshot import Snapshot
from monitoring.schema_registry import subjects
from monitoring.schema_registry.subjects import SchemaText


class RegisterSchema(ActionType):
    """Parameters: `subject`, `schema` (its text), `type`, and `references` (name, subject and
    version of each)."""

    action = "schema.register"
    verb = "schema.edit"
    target_type = SUBJECT_TARGET
    form_page = "schema-register"

    def title(self, resource: str) -> str:
        return _("Register a schema for “%(name)s”") % {"name": resource}

    def confirm_label(self) -> str:
        return _("Register schema")

    def read_facts(self, gateway: Gateway, params: Params) -> Facts:
        """The latest version, the version with this schema, and the registry's objections."""
        subject, schema = params["subject"], schema_of(params)
        existing, objections = None, []
        try:
            with raising_gateway_errors():
                latest = subjects.latest_version(gateway.registry, subject)
                if latest:
                    existing = subjects.find_version(gateway.registry, subject, schema)
                if existing is None:
                    objections = subjects.incompatibilities(gateway.registry, subject, schema)
        except Refused as error:  # in most cases the schema does not parse
            raise PlanRefused(sentence(error.message)) from error
        return {
            "latest": latest.number if latest else None,
            "latest_schema": params_of(latest.schema) if latest else None,
            "existing": existing,
            "objections": objections,
        }

    def draft(self, facts: Facts, params: Params, snapshot: Snapshot | None) -> Draft:
        if facts["existing"] is not None:
            text = _("The subject has this schema already, as version %(version)s.")
            raise PlanRefused(text % {"version": facts["existing"]})
        if facts["objections"]:
            why = " ".join(facts["objections"])
            text = _("The schema is not compatible with the latest version: %(why)s")
            raise PlanRefused(text % {"why": why})
        schema, latest = schema_of(params), facts["latest_schema"]
        before = schema_of(latest) if latest else SchemaText("")
        return Draft(
            title=self.title(params["subject"]),
            changes=[
                Change(_("Latest version"), str(facts["latest"] or ""), _("a new version")),
                *_changed_type(before.type if latest else "", schema.type),
                *changed_lines(before, schema),
            ],
            checks=[_("The registry says that the schema is compatible.")] if latest else [],
            affected=[_("Producers that use the latest version use this one from then on.")],
            undo=_("Delete the version that this makes."),
            before={"version": facts["latest"]},
            after={"type": schema.type, "schema": schema.text[:2_000]},
        )

    def differences(self, then: Facts, now: Facts) -> list[str]:
        if then["latest"] != now["latest"]:
            return [_("The latest version is %(version)s now.") % {"version": now["latest"] or "—"}]
        return [_("The registry judges the schema in another way now.")]

    def targets(self, resource: str, params: Params) -> list[str]:
        """The subject, and those that the schema references: their schemas become a part of it."""
        return [resource, *(subject for _name, subject, _version in params.get("references", ()))]

    def steps(self, params: Params) -> list[Step]:
        return [Step("register", _("Registering the schema"))]

    def apply(self, gateway: Gateway, params: Params, progress: ApplyProgress) -> None:
        progress.start_step("register")
        with raising_gateway_errors():
            subjects.register(gateway.registry, params["subject"], schema_of(params))

    def undo(self, plan: Plan) -> Proposal | None:
        return Proposal(DELETE_VERSION, plan.resource, plan.params)


def _changed_type(before: str, after: str) -> list[Change]:
    return [Change(_("Type"), before, after)] if before != after else []
