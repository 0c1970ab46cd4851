"""Every kind of change there is: one row each, and nothing changes a cluster but through one.

`read` asks the cluster for the facts, `draft` is pure, `tell` puts into sentences what differs
between two readings, `apply` does it and reports its progress (percent, stage). `verb` is the
right that reviewing and applying need, `form` the name of the URL where the change is planned.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from console.actions.plan import Draft, Facts
from console.topics import changes as topics
from console.topics import told
from monitoring.gateway.gateway import Gateway

Params = Mapping[str, Any]
Report = Callable[[int, str], None]


@dataclass(frozen=True, slots=True)
class What:
    """What a change changes: the right to see it, its page, the page of all of them."""

    view_verb: str
    page: str
    page_text: Promise
    pages: str
    pages_text: Promise
    heading: Promise


TOPIC = What(
    "topic.view",
    "topic", gettext_lazy("To the topic"),
    "topics", gettext_lazy("To the topics"), gettext_lazy("Topics"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Kind:
    verb: str
    read: Callable[[Gateway, Params], Facts]
    draft: Callable[[Facts, Params, Any], Draft]  # the third: the newest Snapshot, or None
    tell: Callable[[Facts, Facts], list[str]]
    apply: Callable[[Gateway, Params, Report], None]
    title: Callable[[str], str]  # of the form, with the object's name
    form: str
    makes: bool = False  # the object is there only afterwards
    removes: bool = False  # … only before
    what: What = TOPIC

    def again_url(self, cluster: str, name: str) -> str:
        """Where the same change is planned anew."""
        return reverse(self.form, args=[cluster] if self.makes else [cluster, name])

    def pages_url(self, cluster: str) -> str:
        """Where all objects of this kind are."""
        return reverse(self.what.pages, args=[cluster])

    def after(self, cluster: str, name: str, is_done: bool) -> tuple[str, str]:
        """Where to go from a plan that has ended, and what the link says."""
        is_there = not self.removes if is_done else not self.makes
        if is_there:
            return reverse(self.what.page, args=[cluster, name]), str(self.what.page_text)
        return self.pages_url(cluster), str(self.what.pages_text)


KINDS: dict[str, Kind] = {
    "topic.create": Kind(
        "topic.create", topics.read_new, topics.draft_create, told.tell_new,
        topics.apply_create, topics.title_create, "topic-create", makes=True,
    ),
    "topic.add-partitions": Kind(
        "topic.alter", topics.read_existing, topics.draft_add_partitions, told.tell_existing,
        topics.apply_add_partitions, topics.title_add_partitions, "topic-add-partitions",
    ),
    "topic.delete": Kind(
        "topic.delete", topics.read_existing, topics.draft_delete, told.tell_existing,
        topics.apply_delete, topics.title_delete, "topic-delete", removes=True,
    ),
}  # fmt: skip
