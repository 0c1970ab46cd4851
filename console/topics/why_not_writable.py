"""Why no records can be written to some topics from this console."""

from django.utils.translation import gettext as _

from console.accounts.rights import ADMIN_ONLY_RECORDS
from console.topics.actions.shared import why_not_changeable
from monitoring import own_topics
from monitoring.models import Cluster


def why_not_writable(cluster: Cluster, topic: str) -> str:
    """Why no records can be written to a topic, whoever asks; empty if they can."""
    if reason := why_not_changeable(topic):
        return reason
    if topic.startswith(ADMIN_ONLY_RECORDS):
        text = _("“%(name)s” has the events of the brokers. Only brokers write to it.")
        return text % {"name": topic}
    if topic in own_topics.hidden_on(cluster):
        text = _("“%(name)s” is a log of this console. Only the console writes to it.")
        return text % {"name": topic}
    return ""
