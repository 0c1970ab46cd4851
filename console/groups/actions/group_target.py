"""The type of target of changes to groups."""

from django.utils.translation import gettext_lazy

from console.actions.action_type import TargetType

GROUP_TARGET = TargetType(
    view_verb="group.view",
    page="group",
    page_link=gettext_lazy("Go to the group"),
    list_page="groups",
    list_link=gettext_lazy("Go to the groups"),
    heading=gettext_lazy("Consumer groups"),
)
