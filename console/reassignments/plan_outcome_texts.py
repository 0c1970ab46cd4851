"""The outcomes of plans that change replicas and leaders, as Reasons: code → English text."""

from django.utils.translation import gettext_noop

TEXTS = {
    "reassignment_stopped": gettext_noop(
        "The reassignment was cancelled, or another one took its place."
    ),
    "throttle_stays": gettext_noop(
        "The throttle could not be removed: %(why)s Remove the settings *.replication.throttled.* "
        "of brokers and topics."
    ),
    "leader_not_elected": gettext_noop("The preferred replica does not lead yet."),
}
