"""A cluster that is searched, for a user."""

from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse

from console.accounts.rights import Rights
from monitoring.models import Cluster


@dataclass(frozen=True, slots=True)
class SearchedCluster:
    """A cluster, with a user's rights on it. `is_current`: the one whose page is open."""

    cluster: Cluster
    rights: Rights
    is_current: bool

    def facts(self, *facts: str) -> tuple[str, ...]:
        """The facts; of another cluster also its name."""
        return facts if self.is_current else (*facts, self.cluster.name)

    def url(self, page: str, *arguments: object, **params: str) -> str:
        url = reverse(page, args=[self.cluster.slug, *arguments])
        return f"{url}?{urlencode(params)}" if params else url

    def may_change(self, verb: str, resource: str | None = None) -> bool:
        return not self.cluster.read_only and self.rights.may(verb, resource)
