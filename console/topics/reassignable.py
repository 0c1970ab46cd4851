"""Whether the partitions of topics can be moved to other brokers."""

from django.utils.translation import gettext as _

from console.accounts.rights import Rights
from monitoring.read_model.snapshot import Snapshot


def may_reassign(rights: Rights, snapshot: Snapshot | None, topic: str | None = None) -> bool:
    """Whether the user may reassign the partitions of a topic, or of topics in general."""
    return rights.may("topic.reassign", topic) and not why_not_reassignable(snapshot)


def why_not_reassignable(snapshot: Snapshot | None) -> str:
    """Why the brokers cannot move replicas to others; "" = they can, or it is not known yet."""
    if snapshot is None or snapshot.can_move_replicas:
        return ""
    return _("brokerd cannot move replicas to other brokers yet.")
