"""What a search finds: a hit for a topic, a group, a broker, a cluster, a page or an action.

A hit has one fact, one state, and the pages that can be opened from it (`actions`).
"""

from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from console.groups import state_texts
from console.search import actions_on
from console.search.actions_on import Action, ActionOn
from console.search.searched_cluster import SearchedCluster
from console.ui import numbers
from console.ui.links import URL_LENGTH_MAX
from monitoring.lag.lag_state import LagState
from monitoring.read_model.name_search import Match, match_of
from monitoring.read_model.row_types import BrokerRow, GroupRow, TopicRow
from monitoring.topic_names import is_topic_name


@dataclass(frozen=True, slots=True)
class Hit:
    """`state` is (name, key) as in console/ui/tones.py."""

    icon: str
    name: str
    text: str  # that was searched for
    url: str
    facts: tuple[str, ...]
    match: Match
    state: tuple[str, str] | None = None
    in_trouble: bool = False
    actions: tuple[Action, ...] = ()

    @property
    def parts(self) -> tuple[str, str, str]:
        """The name before, in, and after the match."""
        at = self.name.lower().find(self.text.lower()) if self.text else -1
        if at < 0:
            return self.name, "", ""
        end = at + len(self.text)
        return self.name[:at], self.name[at:end], self.name[end:]


def of_topic(searched: SearchedCluster, row: TopicRow, text: str) -> Hit | None:
    match = match_of(row.name, text)
    if match is None or not is_topic_name(row.name):
        return None
    partitions = ngettext("%(n)s partition", "%(n)s partitions", row.partitions)
    facts = (_("topic"), partitions % {"n": numbers.count(row.partitions)})
    state = None
    if row.offline:
        state = (_("%(n)s offline") % {"n": numbers.count(row.offline)}, "bad")
    elif row.under_replicated:
        state = (_("%(n)s not in sync") % {"n": numbers.count(row.under_replicated)}, "warn")
    return Hit(
        "stack-2", row.name, text, searched.url("topic", row.name), searched.facts(*facts), match,
        state, state is not None, actions_on.of_topic(searched, row.name),
    )  # fmt: skip


def of_group(searched: SearchedCluster, row: GroupRow, text: str) -> Hit | None:
    match, url = match_of(row.name, text), searched.url("group", row.name)
    if match is None or len(url) > URL_LENGTH_MAX:
        return None
    count = ngettext("reads %(n)s topic", "reads %(n)s topics", row.topics)
    facts = (_("group"), count % {"n": numbers.count(row.topics)})
    state = state_texts.of_group(row)
    return Hit(
        "users-group", row.name, text, url, searched.facts(*facts), match, (state.name, state.key),
        row.lag_state >= LagState.GROWING, actions_on.of_group(searched, row.name),
    )  # fmt: skip


def of_broker(searched: SearchedCluster, row: BrokerRow, text: str) -> Hit | None:
    name = _("Broker %(id)s") % {"id": row.id}
    match = match_of(name, text)
    if match is None:
        match = match_of(row.host, text)
    if match is None:
        return None
    address = row.host if row.port is None else f"{row.host}:{row.port}"
    state = (_("Up"), "ok") if row.up else (_("Down"), "down")
    actions = (
        Action(_("Configuration"), "settings", searched.url("broker-config", row.id)),
        Action(_("Loggers"), "table", searched.url("broker-loggers", row.id)),
    )
    return Hit(
        "server-2", name, text, searched.url("broker", row.id),
        searched.facts(_("broker"), address), match, state, not row.up, actions,
    )  # fmt: skip


def of_cluster(searched: SearchedCluster, text: str) -> Hit | None:
    match = match_of(searched.cluster.name, text)
    if match is None:
        match = match_of(searched.cluster.slug, text)
    if match is None:
        return None
    pages = (
        ("brokers", _("Brokers"), "server-2"),
        ("topics", _("Topics"), "stack-2"),
        ("groups", _("Consumer groups"), "users-group"),
        ("alerts", _("Alerts"), "bell"),
    )
    return Hit(
        "topology-star-3", searched.cluster.name, text, searched.url("dashboard"),
        (_("cluster"), searched.cluster.slug), match,
        actions=tuple(Action(title, icon, searched.url(page)) for page, title, icon in pages),
    )  # fmt: skip


def of_page(title: str, icon: str, url: str, kind: str, text: str) -> Hit | None:
    match = match_of(title, text)
    return None if match is None else Hit(icon, title, text, url, (kind,), match)


def of_action(searched: SearchedCluster, on: ActionOn, name: str, text: str) -> Hit | None:
    """The action on a topic or group that was found by `text`, a part of its name."""
    match, action = match_of(name, text), on.on(searched, name)
    if match is None or action is None:
        return None
    title = _("%(action)s: %(name)s") % {"action": action.title, "name": name}
    facts = searched.facts(_("action"), *filter(None, [action.note]))
    return Hit(action.icon, title, text, action.url, facts, match)
