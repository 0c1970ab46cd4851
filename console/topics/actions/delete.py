"""Delete a topic."""

from django.utils.translation import gettext as _

from console.actions.action_type import ActionType, ApplyProgress, Params
from console.actions.draft import Change, Draft, Facts, Step
from console.topics.actions import changes_since_review
from console.topics.actions.affected_groups import groups_reading
from console.topics.actions.topic_facts import read_existing
from console.topics.actions.topic_target import TOPIC_TARGET
from console.topics.actions.wait_for_leaders import wait_until
from console.topics.changeable_topics import refuse_unchangeable
from console.ui import numbers
from monitoring.error_reason import Reason
from monitoring.gateway.errors import GatewayError, NotFound
from monitoring.gateway.gateway import Gateway
from monitoring.read_model.snapshot import Snapshot


class DeleteTopic(ActionType):
    """Parameters: `name`."""

    action = "topic.delete"
    verb = "topic.delete"
    target_type = TOPIC_TARGET
    form_page = "topic-delete"
    deletes = True

    def title(self, resource: str) -> str:
        return _("Delete “%(name)s”") % {"name": resource}

    def read_facts(self, gateway: Gateway, params: Params) -> Facts:
        return read_existing(gateway, params)

    def differences(self, then: Facts, now: Facts) -> list[str]:
        return changes_since_review.of_existing_topic(then, now)

    def draft(self, facts: Facts, params: Params, snapshot: Snapshot | None) -> Draft:
        name = params["name"]
        refuse_unchangeable(name)
        row = snapshot.topic(name) if snapshot else None
        changes = [
            Change(_("Topic"), name, _("deleted")),
            Change(_("Partitions"), str(facts["partitions"]), "0"),
            Change(_("Offsets"), numbers.count(row.offset_count if row else None), "0"),
            Change(_("Size"), numbers.size(row.size_bytes if row else None), "0"),
        ]
        warnings = [_("All records of the topic are deleted. This cannot be undone.")]
        if row is not None and row.messages_rate:
            warnings.append(
                _(
                    "Producers are writing to it now (%(rate)s). With automatic topic creation "
                    "it may be created again, empty."
                )
                % {"rate": numbers.rate(row.messages_rate)}
            )
        return Draft(
            title=_("Delete the topic “%(name)s”") % {"name": name},
            changes=changes,
            affected=groups_reading(name, snapshot),
            warnings=warnings,
            typed_name=name,
            before={
                "topic": name,
                "partitions": facts["partitions"],
                "offsets": row.offset_count.as_integer if row else None,
                "size_bytes": row.size_bytes.as_integer if row else None,
            },
        )

    def steps(self, params: Params) -> list[Step]:
        return [Step("delete", _("Deleting")), Step("gone", _("Waiting for the deletion"))]

    def apply(self, gateway: Gateway, params: Params, progress: ApplyProgress) -> None:
        progress.start_step("delete")
        gateway.topics.delete_topic(params["name"])
        progress.start_step("gone")

        def is_gone() -> bool:
            try:
                gateway.topics.describe_topic(params["name"])
            except NotFound:
                return True
            except GatewayError:  # the topic may be deleted all the same: ask again
                return False
            return False

        if not wait_until(is_gone):
            raise GatewayError(Reason("topic_not_gone"))
