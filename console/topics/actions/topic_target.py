"""The type of target of changes to topics, and the name that plans have for several topics."""

from django.utils.translation import gettext_lazy

from console.actions.action_type import TargetType

_RESOURCE_LENGTH_MAX = 200
TOPIC_TARGET = TargetType(
    view_verb="topic.view",
    page="topic",
    page_link=gettext_lazy("Go to the topic"),
    list_page="topics",
    list_link=gettext_lazy("Go to the topics"),
    heading=gettext_lazy("Topics"),
)


def names_as_resource(names: list[str]) -> str:
    """The names of several topics as the resource of a plan: one short text."""
    text = ", ".join(names)
    is_short = len(text) <= _RESOURCE_LENGTH_MAX
    return text if is_short else f"{text[:_RESOURCE_LENGTH_MAX]}… ({len(names)})"
