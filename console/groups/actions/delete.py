"""Delete a group with all its offsets."""

from django.utils.translation import gettext as _

from console.actions.action_type import ActionType, ApplyProgress, Params
from console.actions.draft import Change, Draft, Facts, PlanRefused, Proposal, Step
from console.actions.models import Plan
from console.groups.actions import members_check
from console.groups.actions.group_target import GROUP_TARGET
from console.groups.actions.reset_offsets import ResetOffsets
from console.ui import numbers
from console.ui.texts import first_lines
from monitoring.gateway.gateway import Gateway
from monitoring.read_model.snapshot import Snapshot
from monitoring.scope import Scope

COMMITTED, HIDDEN = "committed", "hidden"


class DeleteGroup(ActionType):
    """Parameters: `name`."""

    action = "group.delete"
    verb = "group.delete"
    target_type = GROUP_TARGET
    form_page = "group-delete"
    deletes = True

    def title(self, resource: str) -> str:
        return _("Delete “%(name)s”") % {"name": resource}

    def read_facts(self, gateway: Gateway, params: Params) -> Facts:
        """Members, and the committed offsets by topic and partition."""
        committed: dict[str, dict[str, int]] = {}
        for (topic, partition), offset in sorted(gateway.groups.committed(params["name"]).items()):
            committed.setdefault(topic, {})[str(partition)] = offset
        return {**members_check.read(gateway, params["name"]), COMMITTED: committed}

    def within_scope(self, facts: Facts, scope: Scope) -> Facts:
        committed = facts[COMMITTED]
        shown = {topic: rows for topic, rows in committed.items() if scope.shows_topic(topic)}
        return {**facts, COMMITTED: shown, HIDDEN: len(committed) - len(shown)}

    def compared(self, facts: Facts) -> Facts:
        return {COMMITTED: facts[COMMITTED]}

    def differences(self, then: Facts, now: Facts) -> list[str]:
        text = _("The group committed other offsets of “%(topic)s”.")
        topics = sorted({*then[COMMITTED], *now[COMMITTED]})
        changed = [
            text % {"topic": topic}
            for topic in topics
            if then[COMMITTED].get(topic) != now[COMMITTED].get(topic)
        ]
        return [first_lines(changed)] if changed else []

    def draft(self, facts: Facts, params: Params, snapshot: Snapshot | None) -> Draft:
        group = params["name"]
        if facts["state"] == members_check.NO_GROUP:
            raise PlanRefused(members_check.no_group_text(group))
        if facts[HIDDEN]:
            raise PlanRefused(
                _("The group also reads topics outside of your scope. You cannot delete it.")
            )
        members = members_check.members_text(facts["members"])
        return Draft(
            title=_("Delete the group “%(name)s”") % {"name": group},
            changes=[
                Change(_("Group"), group, _("deleted")),
                *(
                    Change(
                        topic,
                        _("%(n)s committed partitions") % {"n": numbers.count(len(rows))},
                        "0",
                    )
                    for topic, rows in facts[COMMITTED].items()
                ),
            ],
            affected=[] if members else [_("The group has no members now.")],
            warnings=[members] if members else [],
            undo=_("Commit its offsets again, which also creates the group again.")
            if facts[COMMITTED]
            else "",
            typed_name=group,
            before=dict(facts[COMMITTED]),
        )

    def steps(self, params: Params) -> list[Step]:
        return [Step("delete", _("Deleting"))]

    def apply(self, gateway: Gateway, params: Params, progress: ApplyProgress) -> None:
        progress.start_step("delete")
        gateway.groups.delete(params["name"])

    def undo(self, plan: Plan) -> Proposal | None:
        offsets = [
            [topic, int(partition), offset]
            for topic, rows in plan.facts.get(COMMITTED, {}).items()
            for partition, offset in rows.items()
        ]
        params = {"name": plan.resource, "offsets": offsets, "restores": True}
        return Proposal(ResetOffsets.action, plan.resource, params) if offsets else None
