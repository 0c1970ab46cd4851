"""What the palette offers besides topics, groups and brokers: the pages of the menu
(console/layout/menu.py), and actions."""

from collections.abc import Iterator

from django.urls import reverse
from django.utils.translation import gettext as _

from console.accounts.principal import Principal
from console.accounts.rights import may
from console.layout.menu import CLUSTER_MENU, GLOBAL_MENU, MONITOR_MENU, MenuEntry, shown_entries
from console.search import hits
from console.search.hits import Hit, Place
from monitoring.models import Cluster


def hits_of(
    principal: Principal, places: list[Place], text: str, *, with_pages: bool
) -> Iterator[Hit]:
    """The actions and pages of the open cluster whose titles contain the text."""
    for title, icon, url in _actions(principal, places):
        if hit := hits.of_page(title, icon, url, _("action"), text):
            yield hit
    if not with_pages:
        return
    cluster = places[0].cluster if places else None
    menus: list[tuple[tuple[MenuEntry, ...], Cluster | None]] = [(GLOBAL_MENU, None)]
    if cluster is not None:
        menus = [(CLUSTER_MENU, cluster), (MONITOR_MENU, cluster), *menus]
    for entries, of_cluster in menus:
        for entry, url in shown_entries(principal.user, entries, of_cluster):
            if hit := hits.of_page(entry.title(), entry.icon, url, _("page"), text):
                yield hit


def _actions(principal: Principal, places: list[Place]) -> Iterator[tuple[str, str, str]]:
    """(title, icon, URL) of what can be begun without choosing a topic or a group first."""
    if places:
        place = places[0]
        if place.may_change("topic.create"):
            yield _("Create topic"), "plus", place.url("topic-create")
        if place.may_change("topic.reassign"):
            yield _("Reassign partitions"), "server-2", place.url("reassign")
        if place.rights.may("alert.edit"):
            yield _("Add an alert rule"), "bell", place.url("alert-rule-add")
        if place.rights.may("report.run"):
            yield _("New report"), "report-analytics", place.url("report-new")
    if may(principal.user, "cluster.edit"):
        yield _("Add a cluster"), "plus", reverse("cluster-add")
