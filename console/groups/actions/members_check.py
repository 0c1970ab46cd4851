"""The check of every change to a group: does it exist, and has it members?

The review warns of members. Apply refuses while the group has any, as Kafka does.
"""

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from console.actions.draft import Facts
from monitoring.error_reason import Reason
from monitoring.gateway.errors import GatewayError
from monitoring.gateway.gateway import Gateway

NO_GROUP = "DEAD"  # Kafka's state of a group that does not exist


def read(gateway: Gateway, group: str) -> Facts:
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


def refuse_members(gateway: Gateway, group: str) -> None:
    """Raises GatewayError if the group has members now."""
    if gateway.groups.describe(group).members:
        raise GatewayError(Reason("group_has_members"))


def no_group_text(group: str) -> str:
    return _("The cluster has no group “%(name)s”.") % {"name": group}
