"""Hits besides topics, groups and brokers: actions on topics and groups, the pages of the menu
(console/layout/menu.py), and forms of actions."""

from collections.abc import Iterator

from django.urls import reverse
from django.utils.translation import gettext as _

from console.accounts.principal import Principal
from console.accounts.rights import may
from console.layout.menu import CLUSTER_MENU, GLOBAL_MENU, MONITOR_MENU, MenuEntry, shown_entries
from console.search import hits
from console.search.actions_on import ON_GROUP, ON_TOPIC
from console.search.hits import Hit
from console.search.searched_cluster import SearchedCluster
from monitoring.models import Cluster

NAMES_MAX = 5  # for each action


def actions_on_names(searched: SearchedCluster, text: str, shown: str) -> Iterator[Hit]:
    """Of a query such as "reset billing" the actions on what it names, the best names first.

    Without a name: on the topic or group of the page (`shown`), if there is one, then on the
    busiest topics and the groups furthest behind.
    """
    snapshot = searched.snapshot
    if snapshot is None:
        return
    for actions, verb, find, first, row_of in (
        (
            ON_GROUP, "group.view", snapshot.find_groups, snapshot.groups_most_behind,
            snapshot.group,
        ),
        (ON_TOPIC, "topic.view", snapshot.find_topics, snapshot.busiest_topics, snapshot.topic),
    ):  # fmt: skip
        if not searched.rights.may(verb):
            continue
        names_found: dict[str, list[str]] = {}  # by the part of a name that a query has
        for on in actions:
            name = on.split(text)
            if name is None:
                continue
            if name not in names_found:
                rows = find(searched.words(name), NAMES_MAX)[0] if name else first(NAMES_MAX)
                names = [row.name for row in rows]
                if shown and not name and row_of(shown):
                    names = [shown, *(each for each in names if each != shown)]
                names_found[name] = names
            for each in names_found[name]:
                if hit := hits.of_action(searched, on, each, searched.words(name)):
                    yield hit


def pages_and_actions(
    principal: Principal, clusters: list[SearchedCluster], text: str, *, with_pages: bool
) -> Iterator[Hit]:
    """The actions and pages of the open cluster whose titles contain the text."""
    for title, icon, url in _actions(principal, clusters):
        if hit := hits.of_page(title, icon, url, _("action"), text):
            yield hit
    if not with_pages:
        return
    cluster = clusters[0].cluster if clusters else None
    menus: list[tuple[tuple[MenuEntry, ...], Cluster | None]] = [(GLOBAL_MENU, None)]
    if cluster is not None:
        menus = [(CLUSTER_MENU, cluster), (MONITOR_MENU, cluster), *menus]
    for entries, of_cluster in menus:
        for entry, url in shown_entries(principal.user, entries, of_cluster):
            if hit := hits.of_page(entry.title(), entry.icon, url, _("page"), text):
                yield hit


def _actions(
    principal: Principal, clusters: list[SearchedCluster]
) -> Iterator[tuple[str, str, str]]:
    """(title, icon, URL) of what can be begun without choosing a topic or a group first."""
    if clusters:
        searched = clusters[0]
        if searched.may_change("topic.create"):
            yield _("Create topic"), "plus", searched.url("topic-create")
        if searched.may_change("topic.reassign"):
            yield _("Reassign partitions"), "server-2", searched.url("reassign")
        if searched.rights.may("alert.edit"):
            yield _("Add an alert rule"), "bell", searched.url("alert-rule-add")
        if searched.rights.may("report.run"):
            yield _("New report"), "report-analytics", searched.url("report-new")
    if may(principal.user, "cluster.edit"):
        yield _("Add a cluster"), "plus", reverse("cluster-add")
