"""Add partitions to a topic."""

from django.utils.translation import gettext as _

from console.actions.action_type import ActionType, ApplyProgress, Params
from console.actions.draft import Change, Draft, Facts, PlanRefused, Step
from console.topics.actions import changes_since_review
from console.topics.actions.affected_groups import groups_reading
from console.topics.actions.topic_facts import read_existing
from console.topics.actions.topic_target import TOPIC_TARGET
from console.topics.actions.wait_for_leaders import wait_for_leaders, waiting_for_leaders
from console.topics.changeable_topics import refuse_unchangeable
from monitoring.gateway.gateway import Gateway
from monitoring.read_model.snapshot import Snapshot


class AddPartitions(ActionType):
    """Parameters: `name`, and `total` (the number of partitions after the change)."""

    action = "topic.add-partitions"
    verb = "topic.alter"
    target_type = TOPIC_TARGET
    form_page = "topic-add-partitions"

    def title(self, resource: str) -> str:
        return _("Add partitions to “%(name)s”") % {"name": resource}

    def confirm_label(self) -> str:
        return _("Add partitions")

    def read_facts(self, gateway: Gateway, params: Params) -> Facts:
        return read_existing(gateway, params)

    def differences(self, then: Facts, now: Facts) -> list[str]:
        return changes_since_review.of_existing_topic(then, now)

    def draft(self, facts: Facts, params: Params, snapshot: Snapshot | None) -> Draft:
        name, total = params["name"], params["total"]
        refuse_unchangeable(name)
        if total <= facts["partitions"]:
            raise PlanRefused(
                _("“%(name)s” has %(n)d partitions already, and they cannot be removed.")
                % {"name": name, "n": facts["partitions"]}
            )
        return Draft(
            title=self.title(name),
            changes=[Change(_("Partitions"), str(facts["partitions"]), str(total))],
            affected=groups_reading(name, snapshot),
            warnings=[
                _("Records with the same key may go to another partition from now on."),
                _(
                    "Consumer groups rebalance when their clients refresh their "
                    "metadata, within minutes."
                ),
            ],
            before={"partitions": facts["partitions"]},
            after={"partitions": total},
        )

    def steps(self, params: Params) -> list[Step]:
        return [Step("add", _("Adding partitions")), waiting_for_leaders()]

    def apply(self, gateway: Gateway, params: Params, progress: ApplyProgress) -> None:
        progress.start_step("add")
        gateway.topics.create_partitions(params["name"], params["total"])
        wait_for_leaders(gateway, params["name"], params["total"], progress)
