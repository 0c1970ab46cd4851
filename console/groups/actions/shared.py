"""What all changes to groups use: their target, the members as facts, and texts."""

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from console.actions.action_type import TargetType
from console.actions.draft import Facts
from monitoring.gateway.gateway import Gateway

NO_GROUP = "DEAD"  # Kafka's state of a group that does not exist
GROUP_TARGET = TargetType(
    view_verb="group.view",
    page="group",
    page_link=gettext_lazy("Go to the group"),
    list_page="groups",
    list_link=gettext_lazy("Go to the groups"),
    heading=gettext_lazy("Consumer groups"),
)


def item_key(topic: str, partition: int) -> str:
    """A partition as the key of an item, as Kafka's tools name it."""
    return f"{topic}-{partition}"


def read_members(gateway: Gateway, group: str) -> Facts:
    """State and number of members. They may change between review and apply."""
    found = gateway.groups.describe(group)
    return {"state": found.state, "members": found.members}


def members_text(members: int) -> str:
    """The warning that a group with members cannot be changed; "" without members."""
    if not members:
        return ""
    return ngettext(
        "The group has %(n)d member now. Kafka changes a group only while it has none: stop its "
        "consumers before you apply.",
        "The group has %(n)d members now. Kafka changes a group only while it has none: stop its "
        "consumers before you apply.",
        members,
    ) % {"n": members}


def no_group_text(group: str) -> str:
    return _("The cluster has no group “%(name)s”.") % {"name": group}
