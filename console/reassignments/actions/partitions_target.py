"""The type of target of changes of replicas and leaders: partitions of topics."""

from dataclasses import replace

from django.utils.translation import gettext_lazy

from console.topics.actions.topic_target import TOPIC_TARGET

PARTITIONS_TARGET = replace(
    TOPIC_TARGET,
    list_page="reassignments",
    list_link=gettext_lazy("Go to the reassignments"),
    heading=gettext_lazy("Reassignments"),
)
