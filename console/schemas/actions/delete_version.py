"""Delete a version of a subject.

Records with its schema can still be decoded: the registry keeps the id of the schema.
"""

from django.utils.translation import gettext as _

from console.actions.action_type import ActionType, ApplyProgress, Params
from console.actions.draft import Change, Draft, Facts, Proposal, Step
from console.actions.models import Plan
from console.schemas.actions.schema_in_plan import params_of, schema_of
from console.schemas.actions.subject_target import SUBJECT_TARGET
from console.schemas.registry_error_mapping import raising_gateway_errors
from monitoring.error_reason import Reason
from monitoring.gateway.errors import NotFound
from monitoring.gateway.gateway import Gateway
from monitoring.read_model.snapshot import Snapshot
from monitoring.schema_registry import subjects

DELETE_VERSION = "schema.delete-version"


class DeleteVersion(ActionType):
    """Parameters: `subject` and `version`; to undo RegisterSchema, its parameters in place of
    `version`: the version with this schema is deleted."""

    action = DELETE_VERSION
    verb = "schema.delete"
    target_type = SUBJECT_TARGET
    form_page = "schema-delete"

    def title(self, resource: str) -> str:
        return _("Delete a version of “%(name)s”") % {"name": resource}

    def confirm_label(self) -> str:
        return _("Delete version")

    def read_facts(self, gateway: Gateway, params: Params) -> Facts:
        """The version with its schema, and all versions."""
        with raising_gateway_errors():
            number = _version_number(gateway, params)
            subject = subjects.read_subject(gateway.registry, params["subject"])
            (version,) = subjects.read_versions(gateway.registry, params["subject"], [number])
        schema = params_of(version.schema)
        return {
            "version": number, "id": version.id, "schema": schema, "versions": [*subject.versions],
        }  # fmt: skip

    def draft(self, facts: Facts, params: Params, snapshot: Snapshot | None) -> Draft:
        versions, number = facts["versions"], facts["version"]
        warnings = [_("Records with this schema can still be read.")]
        if len(versions) == 1:
            warnings.append(_("It is the only version: the subject is gone then."))
        elif number == versions[-1]:
            warnings.append(_("Producers that use the latest version use the one before it then."))
        return Draft(
            title=_("Delete version %(version)s of “%(name)s”")
            % {"version": number, "name": params["subject"]},
            changes=[
                Change(_("Version"), str(number), _("deleted")),
                Change(_("Versions"), str(len(versions)), str(len(versions) - 1)),
            ],
            warnings=warnings,
            undo=_("Register the schema again: it keeps its id and gets a new version."),
            typed_name=params["subject"],
            before={"version": number, "id": facts["id"]},
        )

    def differences(self, then: Facts, now: Facts) -> list[str]:
        versions = ", ".join(map(str, now["versions"]))
        return [_("The versions are %(versions)s now.") % {"versions": versions}]

    def steps(self, params: Params) -> list[Step]:
        return [Step("delete", _("Deleting the version"))]

    def apply(self, gateway: Gateway, params: Params, progress: ApplyProgress) -> None:
        progress.start_step("delete")
        with raising_gateway_errors():
            number = _version_number(gateway, params)
            subjects.delete_version(gateway.registry, params["subject"], number)

    def undo(self, plan: Plan) -> Proposal | None:
        if "schema" not in plan.facts:
            return None
        params = {"subject": plan.resource, **plan.facts["schema"]}
        return Proposal("schema.register", plan.resource, params)

    def next_link(self, cluster: str, resource: str, is_done: bool) -> tuple[str, str]:
        """The list: the subject may be gone with its last version."""
        return self.list_url(cluster), str(self.target_type.list_link)


def _version_number(gateway: Gateway, params: Params) -> int:
    """The version to delete. Raises RegistryError, or NotFound if no version has the schema."""
    if "version" in params:
        return int(params["version"])
    schema = schema_of(params)
    found = subjects.find_version(gateway.registry, params["subject"], schema)
    if found is None:
        raise NotFound(Reason("version_missing", subject=params["subject"], version="—"))
    return found
