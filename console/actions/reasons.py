"""The Reasons that plans and their rows in the audit log keep: code → English text."""

from django.utils.translation import gettext_noop

TEXTS = {
    "plan_not_allowed": gettext_noop("Your role does not include this change."),
    "plan_read_only": gettext_noop("This cluster is set to read-only. An admin can lift that."),
    "plan_too_old": gettext_noop(
        "This plan was older than 15 minutes when it was applied. Make a new one."
    ),
    "plan_not_queued": gettext_noop(
        "Redis, which holds the queue, does not answer. Nothing was changed."
    ),
    "plan_cluster_removed": gettext_noop("The cluster was removed from this console."),
    "plan_other_cluster": gettext_noop(
        "The brokers of this cluster are those of another cluster now. Plan it again."
    ),
    "plan_facts_changed": gettext_noop(
        "Things changed since the review. %(changed)s Plan it again."
    ),
    "plan_error": gettext_noop(
        "Aerie failed (%(name)s). What was done so far is shown by the cluster's pages."
    ),
    "plan_no_worker": gettext_noop(
        "No worker took it within 15 minutes. Nothing was changed; plan it again."
    ),
    "plan_worker_silent": gettext_noop(
        "The worker fell silent. Whether the change was made is not known: look before you plan "
        "it again."
    ),
    "plan_of_another": gettext_noop("Tried to apply a plan of somebody else."),
    "plan_undo": gettext_noop("Undo: %(how)s"),
    "plan_confirmed": gettext_noop(
        "Planned from %(planned)s, confirmed by %(who)s from %(confirmed)s."
    ),
    "plan_ended": "%(how)s %(confirmed)s",  # two sentences
    "topic_not_gone": gettext_noop("The cluster accepted it, but the topic is still there."),
    "topic_without_leaders": gettext_noop(
        "The cluster accepted it, but some partitions have no leader yet. See the topic."
    ),
}
