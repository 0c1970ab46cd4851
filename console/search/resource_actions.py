"""The actions on topics and groups, each with the words that find it in the palette.

"reset billing" finds the form that resets the offsets of the group billing: `name_in` removes the
words of an action from a query; what is left is a part of a name.
"""

from collections.abc import Callable
from dataclasses import dataclass

from django.urls import NoReverseMatch
from django.utils.translation import gettext as _

from console.search.searched_cluster import SearchedCluster
from console.ui.links import URL_LENGTH_MAX

# Shorter words are the beginning of too many others.
_WORD_LENGTH_MIN = 3


@dataclass(frozen=True, slots=True)
class ActionLink:
    """A link to the page of an action; `note` says that a form opens, if one does."""

    title: str
    icon: str
    url: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class ResourceAction:
    """An action on a topic or a group.

    Attributes:
        page: the name of its URL, whose argument is the topic or group.
        words: what users may call the action, separated by spaces.
        changes: it changes the cluster: not offered if that is read-only.
        param: the query parameter that has the topic or group, if the URL has no such argument.
        anchor: the id of the field that gets the focus.
        is_shown: also offered with each topic or group that a search finds.
    """

    verb: str
    page: str
    title: Callable[[], str]
    icon: str
    words: Callable[[], str]
    changes: bool = True
    param: str = ""
    anchor: str = ""
    is_shown: bool = True

    def name_in(self, query: str) -> str | None:
        """The query without the words of this action; None if it has none of them."""
        words = query.split()
        left = [word for word in words if not self._has(word)]
        if len(left) == len(words):
            return None
        fillers = _("of for on in to the topic group").split()
        return " ".join(word for word in left if word.casefold() not in fillers)

    def _has(self, word: str) -> bool:
        """Whether the word is one of this action, or the beginning of one."""
        if len(word) < _WORD_LENGTH_MIN:
            return False
        return any(each.startswith(word.casefold()) for each in self.words().split())

    def link(self, searched: SearchedCluster, name: str) -> ActionLink | None:
        """The link for this topic or group; None if the user may not do the action."""
        may = searched.may_change if self.changes else searched.rights.may
        if not may(self.verb, name):
            return None
        arguments = () if self.param else (name,)
        params = {self.param: name} if self.param else {}
        try:
            url = searched.url(self.page, *arguments, **params)
        except NoReverseMatch:  # the cluster reports a name that no path can have
            return None
        if len(url) > URL_LENGTH_MAX:
            return None
        note = _("opens a form") if self.changes else ""
        return ActionLink(self.title(), self.icon, f"{url}#{self.anchor}".rstrip("#"), note)


MESSAGES = ResourceAction(
    "record.read", "messages", lambda: _("Messages"), "message-2",
    lambda: _("messages records read browse consume"), changes=False,
)  # fmt: skip
RETENTION = ResourceAction(
    "topic.configure", "topic-config", lambda: _("Change retention"), "pencil",
    lambda: _("change retention.ms retention.bytes keep settings edit"),
    anchor="id_retention.ms",
)  # fmt: skip
RESET_OFFSETS = ResourceAction(
    "group.alter", "group-reset", lambda: _("Reset offsets"), "arrow-back-up",
    lambda: _("reset offsets rewind replay seek skip"),
)  # fmt: skip
TOPIC_ACTIONS = (
    MESSAGES,
    ResourceAction(
        "record.read", "messages-search", lambda: _("Search messages"), "search",
        lambda: _("search messages records find key time filter query"), changes=False,
        anchor="id_text",
    ),
    ResourceAction(
        "record.read", "messages-search", lambda: _("Export messages"), "download",
        lambda: _("export messages records download csv json parquet"), changes=False,
        anchor="id_text", is_shown=False,
    ),
    ResourceAction(
        "topic.view", "topic-consumers", lambda: _("Consumers"), "users-group",
        lambda: _("consumers readers lag"), changes=False,
    ),
    ResourceAction(
        "topic.view", "topic-config", lambda: _("Configuration"), "settings",
        lambda: _("configuration settings"), changes=False,
    ),
    RETENTION,
    ResourceAction(
        "record.write", "record-write", lambda: _("Write records"), "send",
        lambda: _("write records messages produce publish send"), is_shown=False,
    ),
    ResourceAction(
        "record.write", "record-copy", lambda: _("Copy records"), "copy",
        lambda: _("copy records messages mirror"), is_shown=False,
    ),
    ResourceAction(
        "topic.alter", "topic-add-partitions", lambda: _("Add partitions"), "plus",
        lambda: _("add partitions increase"),
    ),
    ResourceAction(
        "topic.reassign", "reassign", lambda: _("Reassign partitions"), "server-2",
        lambda: _("reassignment partitions move replicas replication factor"), param="topic",
        is_shown=False,
    ),
    ResourceAction(
        "topic.create", "topic-create", lambda: _("Clone"), "copy",
        lambda: _("clone duplicate"), param="copy", is_shown=False,
    ),
    ResourceAction(
        "topic.purge", "topic-purge", lambda: _("Purge records"), "trash",
        lambda: _("purge records messages delete truncate empty"),
    ),
    ResourceAction(
        "topic.delete", "topic-delete", lambda: _("Delete the topic"), "trash",
        lambda: _("delete remove drop"),
    ),
)  # fmt: skip
GROUP_ACTIONS = (
    RESET_OFFSETS,
    ResourceAction(
        "alert.edit", "alert-rule-add", lambda: _("Alert on this group"), "bell",
        lambda: _("alert rule notify webhook lag"), changes=False, param="group", is_shown=False,
    ),
    ResourceAction(
        "group.alter", "group-offsets-delete", lambda: _("Delete offsets"), "trash",
        lambda: _("delete offsets remove forget"),
    ),
    ResourceAction(
        "group.delete", "group-delete", lambda: _("Delete the group"), "trash",
        lambda: _("delete remove drop"),
    ),
)  # fmt: skip


def of_topic(searched: SearchedCluster, name: str) -> tuple[ActionLink, ...]:
    """The links that are shown with a topic."""
    return _shown(TOPIC_ACTIONS, searched, name)


def of_group(searched: SearchedCluster, name: str) -> tuple[ActionLink, ...]:
    return _shown(GROUP_ACTIONS, searched, name)


def _shown(
    actions: tuple[ResourceAction, ...], searched: SearchedCluster, name: str
) -> tuple[ActionLink, ...]:
    links = (each.link(searched, name) for each in actions if each.is_shown)
    return tuple(link for link in links if link)
