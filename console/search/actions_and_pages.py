"""The hits that are no topics, groups, brokers or clusters: actions, and the pages of the menu
(console/layout/menu.py)."""

from collections.abc import Iterator

from django.urls import reverse
from django.utils.translation import gettext as _

from console.accounts.principal import Principal
from console.accounts.rights import may
from console.layout.menu import CLUSTER_MENU, GLOBAL_MENU, MONITOR_MENU, MenuEntry, shown_entries
from console.search import hits
from console.search.hits import Hit
from console.search.resource_actions import GROUP_ACTIONS, TOPIC_ACTIONS
from console.search.searched_cluster import SearchedCluster
from monitoring.models import Cluster

NAMES_MAX = 5  # for each action


def actions_on_names(searched: SearchedCluster, text: str, page_name: str) -> Iterator[Hit]:
    """The actions that a text such as "reset billing" finds, on the names that match best.

    For a text without a name: on `page_name`, the topic or group of the open page, if there is
    one, then on the busiest topics and the groups furthest behind.
    """
    snapshot = searched.snapshot
    if snapshot is None:
        return
    for actions, verb, find, suggest, row_of in (
        (
            GROUP_ACTIONS, "group.view", snapshot.find_groups, snapshot.groups_most_behind,
            snapshot.group,
        ),
        (
            TOPIC_ACTIONS, "topic.view", snapshot.find_topics, snapshot.busiest_topics,
            snapshot.topic,
        ),
    ):  # fmt: skip
        if not searched.rights.may(verb):
            continue
        names_found: dict[str, list[str]] = {}  # part of a name → names that match
        for action in actions:
            part = action.name_in(text)
            if part is None:
                continue
            if part not in names_found:
                rows = find(searched.words(part), NAMES_MAX)[0] if part else suggest(NAMES_MAX)
                names = [row.name for row in rows]
                if page_name and not part and row_of(page_name):
                    names = [page_name, *(name for name in names if name != page_name)]
                names_found[part] = names
            for name in names_found[part]:
                if hit := hits.of_action(searched, action, name, searched.words(part)):
                    yield hit


def pages_and_actions(
    principal: Principal, clusters: list[SearchedCluster], text: str, *, with_pages: bool
) -> Iterator[Hit]:
    """The actions and pages whose titles match the text; `clusters`: the open one first."""
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
    """(title, icon, URL) of the actions that do not need a topic or a group."""
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
