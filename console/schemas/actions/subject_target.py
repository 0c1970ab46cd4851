"""The type of target of changes to subjects."""

from django.utils.translation import gettext_lazy

from console.actions.action_type import TargetType

SUBJECT_TARGET = TargetType(
    view_verb="schema.view",
    page="subject",
    page_link=gettext_lazy("Go to the subject"),
    list_page="schemas",
    list_link=gettext_lazy("Go to the schemas"),
    heading=gettext_lazy("Schemas"),
)
