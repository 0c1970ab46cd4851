"""Create a topic."""

from django.utils.translation import gettext as _

from console.actions.action_type import ActionType, ApplyProgress, Params
from console.actions.draft import Change, Draft, Facts, PlanRefused, Proposal, Step
from console.actions.models import Plan
from console.topics.actions import changes_since_review
from console.topics.actions.topic_target import TOPIC_TARGET
from console.topics.actions.wait_for_leaders import wait_for_leaders, waiting_for_leaders
from console.topics.changeable_topics import why_not_changeable
from console.ui.setting_texts import meaning
from console.ui.texts import sentence
from monitoring.gateway.errors import Refused
from monitoring.gateway.gateway import Gateway
from monitoring.read_model.snapshot import Snapshot
from monitoring.scope import Scope


class CreateTopic(ActionType):
    """Parameters: `name`, `partitions`, `replication` (factor), and `configs` (setting → value)."""

    action = "topic.create"
    verb = "topic.create"
    target_type = TOPIC_TARGET
    form_page = "topic-create"
    creates = True

    def title(self, resource: str = "") -> str:
        return _("Create a topic")

    def confirm_label(self) -> str:
        return _("Create topic")

    def read_facts(self, gateway: Gateway, params: Params) -> Facts:
        """Whether the topic exists, topics with colliding names, and errors of the brokers (which
        only validate the request)."""
        metadata = gateway.wire.metadata()
        name = params["name"]
        colliding = [other for other in metadata.topics if _collides(other, name)]
        facts = {
            "exists": name in metadata.topics,
            "brokers": len(metadata.brokers),
            "colliding": colliding,
        }
        return {
            **facts,
            "objection": "" if facts["exists"] else self._validation_error(gateway, params),
        }

    def within_scope(self, facts: Facts, scope: Scope) -> Facts:
        """The facts with "" for each colliding name outside the scope. If there is one, they do not
        have the brokers' error text, which may contain it."""
        colliding = [other if scope.shows_topic(other) else "" for other in facts["colliding"]]
        return {
            **facts,
            "colliding": colliding,
            "objection": facts["objection"] if all(colliding) else "",
        }

    def differences(self, then: Facts, now: Facts) -> list[str]:
        return changes_since_review.of_new_topic(then, now)

    def draft(self, facts: Facts, params: Params, snapshot: Snapshot | None) -> Draft:
        name, partitions, replication = params["name"], params["partitions"], params["replication"]
        if why_not_changeable(name):
            raise PlanRefused(
                _("Names that begin with “__” are reserved for internal topics: choose another.")
            )
        if facts["exists"]:
            raise PlanRefused(_("The topic “%(name)s” already exists.") % {"name": name})
        if facts["colliding"] and not facts["colliding"][0]:
            raise PlanRefused(
                _("“%(name)s” collides with another topic: they differ only in “.” and “_”.")
                % {"name": name}
            )
        if facts["colliding"]:
            raise PlanRefused(
                _("“%(name)s” collides with “%(other)s”: they differ only in “.” and “_”.")
                % {"name": name, "other": facts["colliding"][0]}
            )
        if replication > facts["brokers"]:
            raise PlanRefused(
                _("Replication factor %(n)d needs %(n)d brokers; only %(up)d are up.")
                % {"n": replication, "up": facts["brokers"]}
            )
        if facts["objection"]:
            raise PlanRefused(_("The brokers refuse it: %(why)s") % {"why": facts["objection"]})
        changes = [
            Change(_("Topic"), "", name),
            Change(_("Partitions"), "", str(partitions)),
            Change(_("Replication factor"), "", str(replication)),
            *(
                Change(key, "", value, meaning(key, value))
                for key, value in params["configs"].items()
            ),
        ]
        warnings = []
        if replication == 1:
            warnings.append(
                _("With one replica, the partitions of a broker that is down are offline.")
            )
        if "." in name and "_" in name:
            warnings.append(
                _("The name contains both “.” and “_”, which can collide in metric names.")
            )
        return Draft(
            title=_("Create the topic “%(name)s”") % {"name": name},
            changes=changes,
            warnings=warnings,
            undo=_("Delete the topic."),
            after={
                "topic": name,
                "partitions": partitions,
                "replication_factor": replication,
                **params["configs"],
            },
        )

    def steps(self, params: Params) -> list[Step]:
        return [Step("create", _("Creating")), waiting_for_leaders()]

    def undo(self, plan: Plan) -> Proposal | None:
        return Proposal("topic.delete", plan.resource, {"name": plan.resource})

    def apply(self, gateway: Gateway, params: Params, progress: ApplyProgress) -> None:
        progress.start_step("create")
        gateway.topics.create_topic(
            params["name"], params["partitions"], params["replication"], params["configs"]
        )
        wait_for_leaders(gateway, params["name"], params["partitions"], progress)

    def _validation_error(self, gateway: Gateway, params: Params) -> str:
        try:
            gateway.topics.create_topic(
                params["name"],
                params["partitions"],
                params["replication"],
                params["configs"],
                validate_only=True,
            )
        except Refused as error:
            return sentence(error.message)
        return ""


def _collides(a: str, b: str) -> bool:
    """Kafka's metrics replace "." by "_", so names that differ only there collide."""
    return a != b and a.replace(".", "_") == b.replace(".", "_")
