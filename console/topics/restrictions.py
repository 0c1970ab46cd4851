"""What this console does not do with some topics, and why."""

from django.utils.translation import gettext as _

from console.accounts.rights import ADMIN_ONLY_RECORDS, Rights
from monitoring import own_topics
from monitoring.models import Cluster
from monitoring.read_model.snapshot import Snapshot


def why_not_changeable(name: str) -> str:
    """Why a topic cannot be changed at all; empty if it can."""
    if name.startswith("__"):
        return _("“%(name)s” is an internal topic of the cluster. It cannot be changed here.") % {
            "name": name
        }
    return ""


def why_not_writable(cluster: Cluster, topic: str) -> str:
    """Why no records can be written to a topic; empty if they can."""
    if reason := why_not_changeable(topic):
        return reason
    if topic.startswith(ADMIN_ONLY_RECORDS):
        text = _("“%(name)s” has the events of the brokers. Only brokers write to it.")
        return text % {"name": topic}
    if topic in own_topics.hidden_on(cluster):
        text = _("“%(name)s” is a log of this console. Only the console writes to it.")
        return text % {"name": topic}
    return ""


def may_reassign(rights: Rights, snapshot: Snapshot | None, topic: str | None = None) -> bool:
    """Whether the user may reassign the partitions of a topic, or of topics in general."""
    return rights.may("topic.reassign", topic) and not why_not_reassignable(snapshot)


def why_not_reassignable(snapshot: Snapshot | None) -> str:
    """Why the brokers cannot move replicas to others; "" = they can, or it is not known yet."""
    if snapshot is None or snapshot.can_move_replicas:
        return ""
    return _("brokerd cannot move replicas to other brokers yet.")
