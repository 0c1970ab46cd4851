"""What can be done with a topic or a group: each action with the words by which people look for it.

"reset billing" finds the form that resets the offsets of the group billing: `split` takes the words
of an action out of a query; what is left is a part of a name.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from django.urls import NoReverseMatch
from django.utils.translation import gettext as _

from console.search.searched_cluster import SearchedCluster
from console.ui.links import URL_LENGTH_MAX

# Shorter words are the beginning of too many others.
_WORD_LENGTH_MIN = 3


@dataclass(frozen=True, slots=True)
class Action:
    """`note` says what opens, if it is a form."""

    title: str
    icon: str
    url: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class ActionOn:
    """An action on a topic or a group.

    `words`: how people call it. Its page has the name in its path, or in the parameter `param`.
    `anchor`: the id of the field that gets the focus there. `is_shown`: among the actions on a
    row, too, where there is room for the usual ones.
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

    def split(self, text: str) -> str | None:
        """The name that is left of a query without the words of this action; None without any."""
        words = text.split()
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

    def on(self, searched: SearchedCluster, name: str) -> Action | None:
        """The action on this topic or group; None if the user may not do it."""
        may = searched.may_change if self.changes else searched.rights.may
        if not may(self.verb, name):
            return None
        arguments = () if self.param else (name,)
        params = {self.param: name} if self.param else {}
        try:
            url = searched.url(self.page, *arguments, **params)
        except NoReverseMatch:  # a cluster may tell a topic whose name has no place in a path
            return None
        if len(url) > URL_LENGTH_MAX:
            return None
        note = _("opens a form") if self.changes else ""
        return Action(self.title(), self.icon, f"{url}#{self.anchor}".rstrip("#"), note)


MESSAGES = ActionOn(
    "record.read", "messages", lambda: _("Messages"), "message-2",
    lambda: _("messages records read browse consume"), changes=False,
)  # fmt: skip
RETENTION = ActionOn(
    "topic.configure", "topic-config", lambda: _("Change retention"), "pencil",
    lambda: _("change retention.ms retention.bytes keep settings edit"),
    anchor="id_retention.ms",
)  # fmt: skip
RESET_OFFSETS = ActionOn(
    "group.alter", "group-reset", lambda: _("Reset offsets"), "arrow-back-up",
    lambda: _("reset offsets rewind replay seek skip"),
)  # fmt: skip
ON_TOPIC = (
    MESSAGES,
    ActionOn(
        "record.read", "messages-search", lambda: _("Search messages"), "search",
        lambda: _("search messages records find key time filter query"), changes=False,
        anchor="id_text",
    ),
    ActionOn(
        "record.read", "messages-search", lambda: _("Export messages"), "download",
        lambda: _("export messages records download csv json parquet"), changes=False,
        anchor="id_text", is_shown=False,
    ),
    ActionOn(
        "topic.view", "topic-consumers", lambda: _("Consumers"), "users-group",
        lambda: _("consumers readers lag"), changes=False,
    ),
    ActionOn(
        "topic.view", "topic-config", lambda: _("Configuration"), "settings",
        lambda: _("configuration settings"), changes=False,
    ),
    RETENTION,
    ActionOn(
        "record.write", "record-write", lambda: _("Write records"), "send",
        lambda: _("write records messages produce publish send"), is_shown=False,
    ),
    ActionOn(
        "record.write", "record-copy", lambda: _("Copy records"), "copy",
        lambda: _("copy records messages mirror"), is_shown=False,
    ),
    ActionOn(
        "topic.alter", "topic-add-partitions", lambda: _("Add partitions"), "plus",
        lambda: _("add partitions increase"),
    ),
    ActionOn(
        "topic.reassign", "reassign", lambda: _("Reassign partitions"), "server-2",
        lambda: _("reassignment partitions move replicas replication factor"), param="topic",
        is_shown=False,
    ),
    ActionOn(
        "topic.create", "topic-create", lambda: _("Clone"), "copy",
        lambda: _("clone duplicate"), param="copy", is_shown=False,
    ),
    ActionOn(
        "topic.purge", "topic-purge", lambda: _("Purge records"), "trash",
        lambda: _("purge records messages delete truncate empty"),
    ),
    ActionOn(
        "topic.delete", "topic-delete", lambda: _("Delete the topic"), "trash",
        lambda: _("delete remove drop"),
    ),
)  # fmt: skip
ON_GROUP = (
    RESET_OFFSETS,
    ActionOn(
        "alert.edit", "alert-rule-add", lambda: _("Alert on this group"), "bell",
        lambda: _("alert rule notify webhook lag"), changes=False, param="group", is_shown=False,
    ),
    ActionOn(
        "group.alter", "group-offsets-delete", lambda: _("Delete offsets"), "trash",
        lambda: _("delete offsets remove forget"),
    ),
    ActionOn(
        "group.delete", "group-delete", lambda: _("Delete the group"), "trash",
        lambda: _("delete remove drop"),
    ),
)  # fmt: skip


def of_topic(searched: SearchedCluster, name: str) -> tuple[Action, ...]:
    """The actions on a topic that are shown with it."""
    return _shown(ON_TOPIC, searched, name)


def of_group(searched: SearchedCluster, name: str) -> tuple[Action, ...]:
    return _shown(ON_GROUP, searched, name)


def _shown(
    actions: tuple[ActionOn, ...], searched: SearchedCluster, name: str
) -> tuple[Action, ...]:
    shown: Iterator[Action | None] = (each.on(searched, name) for each in actions if each.is_shown)
    return tuple(action for action in shown if action)
