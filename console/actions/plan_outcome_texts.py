"""The outcomes of all plans, as Reasons in plans and audit rows: code → English text."""

from django.utils.translation import gettext_noop

TEXTS = {
    "plan_not_allowed": gettext_noop("Your role does not include this change."),
    "plan_read_only": gettext_noop(
        "This cluster is read-only in this console. An admin can change that."
    ),
    "plan_too_old": gettext_noop(
        "This plan was older than %(minutes)s minutes when it was confirmed. Plan the change again."
    ),
    "plan_not_queued": gettext_noop(
        "Redis, which holds the queue, does not answer. Nothing was changed."
    ),
    "plan_cluster_removed": gettext_noop("The cluster was removed from this console."),
    "plan_other_cluster": gettext_noop(
        "The bootstrap servers now lead to another cluster. Plan the change again."
    ),
    "plan_facts_changed": gettext_noop(
        "The cluster changed since the review. %(changed)s Plan the change again."
    ),
    "plan_items_failed": gettext_noop(
        "%(failed)s of %(total)s could not be changed. What was changed stays changed."
    ),
    "plan_error": gettext_noop(
        "Aerie had an internal error (%(name)s). Check on the cluster's pages what was changed."
    ),
    "plan_no_worker": gettext_noop(
        "No worker started it within %(minutes)s minutes. Nothing was changed. Plan the change "
        "again."
    ),
    "plan_worker_silent": gettext_noop(
        "The worker stopped responding. The change may or may not have been made. Check the "
        "cluster before you plan it again."
    ),
    "plan_stopped": gettext_noop("Stopped by %(who)s from %(address)s. %(how)s"),
    "plan_stopped_by": gettext_noop("Stopped by %(who)s. %(how)s"),
    "plan_of_another": gettext_noop("Tried to apply another user's plan."),
    "plan_undo": gettext_noop("Undo: %(how)s"),
    "plan_confirmed": gettext_noop(
        "Planned from %(planned)s, confirmed by %(who)s from %(confirmed)s."
    ),
    "plan_ended": "%(how)s %(confirmed)s",  # two sentences
}
