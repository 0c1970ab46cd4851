"""A cluster with what a user may do on it: for the palette, and for links of the overview."""

from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse

from console.accounts.rights import Rights
from console.topics.changeable_topics import may_change
from monitoring.models import Cluster
from monitoring.read_model.name_search import SearchWords
from monitoring.read_model.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class SearchedCluster:
    """`snapshot`: what the user may see; None before the first sample. `is_current`: it is the
    cluster whose page is open."""

    cluster: Cluster
    rights: Rights
    snapshot: Snapshot | None
    is_current: bool

    def facts(self, *facts: str) -> tuple[str, ...]:
        """The short texts beside a hit of the palette, with the cluster's name unless it is the
        current one."""
        return facts if self.is_current else (*facts, self.cluster.name)

    def words(self, text: str) -> SearchWords:
        """The words of a search; they can name this cluster, too."""
        return SearchWords.of(text, self.cluster.name, self.cluster.slug)

    def url(self, page: str, *arguments: object, **params: str) -> str:
        url = reverse(page, args=[self.cluster.slug, *arguments])
        return f"{url}?{urlencode(params)}" if params else url

    def may_change(self, verb: str, resource: str | None = None) -> bool:
        return may_change(self.rights, self.cluster, self.snapshot, verb, resource)
