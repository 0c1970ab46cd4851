"""The outcomes of plans that change topics, as Reasons: code → English text."""

from django.utils.translation import gettext_noop

TEXTS = {
    "topic_not_gone": gettext_noop(
        "The cluster accepted the deletion, but the topic still exists."
    ),
    "topic_without_leaders": gettext_noop(
        "The change was accepted, but some partitions have no leader yet. Check the topic."
    ),
}
