"""The menu, and the context variable `page` that templates/base.html needs on every full page.

`page` is lazy, so that responses without the layout (fragments, downloads) do not compute it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import cached_property
from django.utils.translation import gettext as _

from console.accounts.rights import may, rights_of
from console.alerts.visible_alerts import alerts_in_scope
from console.clusters.middleware import last_cluster
from console.clusters.visible_clusters import visible_clusters
from console.live import page_renderer, snapshot_cache
from console.ui import readiness_texts
from monitoring import readiness_checks
from monitoring.models import Alert, Cluster
from monitoring.read_model.row_types import Totals
from monitoring.ticks import tick_stream

VERSION = "0.1"


@dataclass(frozen=True, slots=True)
class MenuEntry:
    """An entry of the menu.

    Attributes:
        verb: the right that a user needs to see it.
        count: the attribute of Totals that is shown beside it.
        needs_registry: it is shown only for clusters with a schema registry.
    """

    url_name: str
    title: Callable[[], str]
    icon: str
    verb: str
    count: str = ""
    needs_registry: bool = False


CLUSTER_MENU = (
    MenuEntry("dashboard", lambda: _("Overview"), "layout-dashboard", "cluster.view"),
    MenuEntry("brokers", lambda: _("Brokers"), "server-2", "broker.view", "brokers"),
    MenuEntry("topics", lambda: _("Topics"), "stack-2", "topic.view", "topics"),
    MenuEntry("groups", lambda: _("Groups"), "users-group", "group.view", "groups"),
    MenuEntry("schemas", lambda: _("Schemas"), "table", "schema.view", needs_registry=True),
    MenuEntry("quotas", lambda: _("Quotas"), "activity", "quota.edit"),
)
MONITOR_MENU = (
    MenuEntry("alerts", lambda: _("Alerts"), "bell", "alert.view"),
    MenuEntry("reports", lambda: _("Reports"), "report-analytics", "report.view"),
    MenuEntry("pipeline", lambda: _("Pipeline"), "database", "pipeline.view"),
    MenuEntry("masking", lambda: _("Masking"), "eye-off", "masking.edit"),
)
GLOBAL_MENU = (
    MenuEntry("clusters", lambda: _("Clusters"), "topology-star-3", "cluster.view"),
    MenuEntry("egress", lambda: _("Outgoing requests"), "send", "egress.edit"),
    MenuEntry("audit", lambda: _("Audit"), "history", "audit.view"),
)


def shown_entries(
    user: AbstractBaseUser | AnonymousUser, entries: tuple[MenuEntry, ...], cluster: Cluster | None
) -> Iterator[tuple[MenuEntry, str]]:
    """The entries that are shown to the user, with their URLs. `cluster`: None for GLOBAL_MENU."""
    for entry in entries:
        is_there = not entry.needs_registry or (cluster and cluster.registry_url)
        if is_there and may(user, entry.verb, cluster):
            yield entry, reverse(entry.url_name, args=[cluster.slug] if cluster else [])


class Page:
    """What templates/base.html shows around a page: clusters, menu, status of the samples."""

    version = VERSION

    def __init__(self, request: HttpRequest) -> None:
        self._request = request

    @property
    def cluster(self) -> Cluster | None:
        return getattr(self._request, "cluster", None)

    @cached_property
    def clusters(self) -> list[Cluster]:
        return visible_clusters(self._request.user)

    @property
    def menu_cluster(self) -> Cluster | None:
        """The cluster of the menu: the page's, else that of the page before, else the first one.

        None = the user sees no cluster.
        """
        return self.cluster or last_cluster(self._request, self.clusters)

    @property
    def role(self) -> str:
        return rights_of(self._request.user, self.cluster).role

    @cached_property
    def status(self) -> Any:
        """The SampleStatus of the menu's cluster."""
        if self.menu_cluster is None:
            return None
        rights = rights_of(self._request.user, self.menu_cluster)
        return snapshot_cache.sample_status(self.menu_cluster.slug, rights)

    @cached_property
    def health(self) -> list[readiness_texts.HealthBanner]:
        """The parts of the console that have failed, for signed-in users."""
        if not self._request.user.is_authenticated:
            return []
        return [readiness_texts.banner(part) for part in readiness_checks.problems()]

    @property
    def socket_url(self) -> str:
        """The socket of a page without live fragments; it gets only the banners."""
        return page_renderer.socket_url(self.cluster.slug, self.status) if self.cluster else ""

    @property
    def interval_ms(self) -> int:
        return tick_stream.interval_ms()

    @cached_property
    def menu(self) -> list[dict[str, Any]]:
        cluster = self.menu_cluster
        global_entries = self._entries(GLOBAL_MENU, cluster=None)
        sections = [("", global_entries)]
        if cluster is not None:
            sections = [
                ("", self._entries(CLUSTER_MENU, cluster)),
                (_("Monitor"), self._entries(MONITOR_MENU, cluster)),
                (_("Aerie"), global_entries),
            ]
        return [{"title": title, "items": items} for title, items in sections if items]

    def _entries(
        self, entries: tuple[MenuEntry, ...], cluster: Cluster | None
    ) -> list[dict[str, Any]]:
        return [
            {
                "title": entry.title(),
                "icon": entry.icon,
                "url": url,
                "active": self._is_active(url, cluster is None),
                "count": self._count(entry),
                "firing": self._firing_alerts if entry.url_name == "alerts" else 0,
            }
            for entry, url in shown_entries(self._request.user, entries, cluster)
        ]

    def _count(self, entry: MenuEntry) -> int | None:
        return getattr(self._totals, entry.count) if entry.count and self._totals else None

    @cached_property
    def _totals(self) -> Totals | None:
        """The totals of the menu's cluster in its last sample; None = no cluster, or no sample."""
        if self.menu_cluster is None:
            return None
        rights = rights_of(self._request.user, self.menu_cluster)
        snapshot = snapshot_cache.snapshot(self.menu_cluster.slug, rights)
        return snapshot.totals if snapshot else None

    @cached_property
    def _firing_alerts(self) -> int:
        """The number of alerts of the menu's cluster that fire."""
        if self.menu_cluster is None:
            return 0
        rights = rights_of(self._request.user, self.menu_cluster)
        firing = Alert.objects.filter(cluster=self.menu_cluster, state=Alert.State.FIRING)
        return firing.filter(alerts_in_scope(rights)).count()

    def _is_active(self, url: str, is_global: bool) -> bool:
        path = self._request.path
        if not is_global and self.cluster is None:
            return False
        return path == url or (not url.endswith("/") and path.startswith(url + "/"))


def page(request: HttpRequest) -> dict[str, Any]:
    return {"page": Page(request)}
