"""What a user may change, and what this console does not do with some topics, and why."""

from django.utils.translation import gettext as _

from console.accounts.rights import ADMIN_ONLY_RECORDS, Rights
from console.actions.draft import PlanRefused
from monitoring import console_topics
from monitoring.models import Cluster
from monitoring.read_model.snapshot import Snapshot


def why_not_changeable(name: str) -> str:
    """Why a topic cannot be changed at all; empty if it can."""
    if name.startswith("__"):
        return _("“%(name)s” is an internal topic of the cluster. It cannot be changed here.") % {
            "name": name
        }
    return ""


def refuse_unchangeable(name: str) -> None:
    """Raises PlanRefused if a topic cannot be changed at all."""
    if reason := why_not_changeable(name):
        raise PlanRefused(reason)


def why_not_writable(cluster: Cluster, topic: str) -> str:
    """Why no records can be written to a topic; empty if they can."""
    if reason := why_not_changeable(topic):
        return reason
    if topic.startswith(ADMIN_ONLY_RECORDS):
        text = _("“%(name)s” has the events of the brokers. Only brokers write to it.")
        return text % {"name": topic}
    if topic in console_topics.hidden_on(cluster):
        text = _("“%(name)s” is a log of this console. Only the console writes to it.")
        return text % {"name": topic}
    return ""


def why_not_reassignable(snapshot: Snapshot | None) -> str:
    """Why the brokers cannot move replicas to others; "" = they can, or it is not known yet."""
    if snapshot is None or snapshot.can_move_replicas:
        return ""
    return _("brokerd cannot move replicas to other brokers yet.")


def may_change(
    rights: Rights, cluster: Cluster, snapshot: Snapshot | None, verb: str, name: str | None = None
) -> bool:
    """Whether a user may make a change, and neither this console nor the brokers refuse it.

    `name` is that of a topic or group, as `verb` needs it; None = of any.
    """
    if cluster.read_only or not rights.may(verb, name):
        return False
    if verb == "topic.reassign" and why_not_reassignable(snapshot):
        return False
    if name is None or not verb.startswith(("topic.", "record.")):
        return True
    is_write = verb == "record.write"
    return not (why_not_writable(cluster, name) if is_write else why_not_changeable(name))
