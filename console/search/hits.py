"""What a search finds: a hit for a topic, a group, a broker, a cluster, a page or an action.

A hit has facts, perhaps a state, and links to other pages and forms (`actions`).
"""

import re
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from console.groups import lag_state_texts
from console.search import resource_actions
from console.search.resource_actions import ActionLink, ResourceAction
from console.search.searched_cluster import SearchedCluster
from console.ui import numbers
from console.ui.links import URL_LENGTH_MAX
from monitoring.lag.lag_state import LagState
from monitoring.read_model.name_search import Rank, SearchWords, rank_of
from monitoring.read_model.row_types import BrokerRow, GroupRow, TopicRow
from monitoring.topic_names import is_topic_name


@dataclass(frozen=True, slots=True)
class Hit:
    """`state` is (name, key) as in console/ui/tones.py."""

    icon: str
    name: str
    words: tuple[str, ...]  # that were searched for
    url: str
    facts: tuple[str, ...]
    rank: Rank
    state: tuple[str, str] | None = None
    is_in_trouble: bool = False
    actions: tuple[ActionLink, ...] = ()

    @property
    def parts(self) -> list[tuple[str, bool]]:
        """The parts of the name, and whether each is a word that was searched for."""
        if not self.words:
            return [(self.name, False)]
        longest_first = sorted(self.words, key=len, reverse=True)
        pattern = "|".join(map(re.escape, longest_first))
        parts = re.split(f"({pattern})", self.name, flags=re.IGNORECASE)
        return [(part, index % 2 == 1) for index, part in enumerate(parts) if part]


def of_topic(searched: SearchedCluster, row: TopicRow, search: SearchWords) -> Hit | None:
    rank = rank_of(row.name, search)
    if rank is None or not is_topic_name(row.name):
        return None
    partitions = ngettext("%(n)s partition", "%(n)s partitions", row.partitions)
    facts = (_("topic"), partitions % {"n": numbers.count(row.partitions)})
    state = None
    if row.offline:
        state = (_("%(n)s offline") % {"n": numbers.count(row.offline)}, "bad")
    elif row.under_replicated:
        state = (_("%(n)s not in sync") % {"n": numbers.count(row.under_replicated)}, "warn")
    return Hit(
        "stack-2", row.name, search.words, searched.url("topic", row.name),
        searched.facts(*facts), rank, state, state is not None,
        resource_actions.of_topic(searched, row.name),
    )  # fmt: skip


def of_group(searched: SearchedCluster, row: GroupRow, search: SearchWords) -> Hit | None:
    rank, url = rank_of(row.name, search), searched.url("group", row.name)
    if rank is None or len(url) > URL_LENGTH_MAX:
        return None
    count = ngettext("reads %(n)s topic", "reads %(n)s topics", row.topics)
    facts = (_("group"), count % {"n": numbers.count(row.topics)})
    state = lag_state_texts.of_group(row)
    return Hit(
        "users-group", row.name, search.words, url, searched.facts(*facts), rank,
        (state.name, state.key), row.lag_state >= LagState.GROWING,
        resource_actions.of_group(searched, row.name),
    )  # fmt: skip


def of_broker(searched: SearchedCluster, row: BrokerRow, search: SearchWords) -> Hit | None:
    name = _("Broker %(id)s") % {"id": row.id}
    rank = rank_of(name, search) or rank_of(row.host, search)
    if rank is None:
        return None
    address = row.host if row.port is None else f"{row.host}:{row.port}"
    state = (_("Up"), "ok") if row.up else (_("Down"), "down")
    actions = (
        ActionLink(_("Configuration"), "settings", searched.url("broker-config", row.id)),
        ActionLink(_("Loggers"), "table", searched.url("broker-loggers", row.id)),
    )
    return Hit(
        "server-2", name, search.words, searched.url("broker", row.id),
        searched.facts(_("broker"), address), rank, state, not row.up, actions,
    )  # fmt: skip


def of_cluster(searched: SearchedCluster, text: str) -> Hit | None:
    search = SearchWords.of(text)
    rank = rank_of(searched.cluster.name, search) or rank_of(searched.cluster.slug, search)
    if rank is None:
        return None
    pages = (
        ("brokers", _("Brokers"), "server-2"),
        ("topics", _("Topics"), "stack-2"),
        ("groups", _("Consumer groups"), "users-group"),
        ("alerts", _("Alerts"), "bell"),
    )
    return Hit(
        "topology-star-3", searched.cluster.name, search.words, searched.url("dashboard"),
        (_("cluster"), searched.cluster.slug), rank,
        actions=tuple(ActionLink(title, icon, searched.url(page)) for page, title, icon in pages),
    )  # fmt: skip


def of_page(title: str, icon: str, url: str, kind: str, text: str) -> Hit | None:
    search = SearchWords.of(text)
    rank = rank_of(title, search)
    return None if rank is None else Hit(icon, title, search.words, url, (kind,), rank)


def of_action(
    searched: SearchedCluster, action: ResourceAction, name: str, search: SearchWords
) -> Hit | None:
    """An action on the topic or group `name`; None = it does not match, or has no link."""
    rank, link = rank_of(name, search), action.link(searched, name)
    if rank is None or link is None:
        return None
    title = _("%(action)s: %(name)s") % {"action": link.title, "name": name}
    facts = searched.facts(_("action"), *filter(None, [link.note]))
    return Hit(link.icon, title, search.words, link.url, facts, rank)
