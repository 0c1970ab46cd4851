"""The search over everything that a user may see.

The text may begin with a sign that limits the search to one kind: `#` topics, `@` groups, `>`
actions. It may name an action with a topic or group, in any order ("reset billing",
resource_actions.py). Hits of the cluster whose page is open come first, then better matches, then
hits in trouble. Names are searched in the columns of a snapshot; rows are made only for what is
shown.
"""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from console.accounts.principal import Principal
from console.accounts.rights import rights_of
from console.clusters.visible_clusters import visible_clusters
from console.live import snapshot_cache
from console.search import actions_and_pages, hits
from console.search.hits import Hit
from console.search.searched_cluster import SearchedCluster
from console.ui import numbers
from monitoring.read_model.name_search import Match

HITS_MAX = 20
ACTIONS_MAX = 10  # on topics and groups
TEXT_LENGTH_MAX = 200
TOPICS, GROUPS, ACTIONS = "#", "@", ">"


@dataclass(frozen=True, slots=True)
class Results:
    """`found`: the first topics, groups, brokers and clusters, of `count`; `actions_on`: actions on
    topics and groups; `actions`: pages and other actions."""

    found: list[Hit]
    count: int
    actions_on: list[Hit]
    actions: list[Hit]

    @property
    def sections(self) -> list[tuple[list[Hit], str]]:
        """(hits, title) of the parts of the list."""
        counts = {"n": numbers.count(len(self.found)), "of": numbers.count(self.count)}
        results = _("Results: %(n)s of %(of)s") % counts
        return [
            (self.found, results),
            (self.actions_on, _("Actions on topics and groups")),
            (self.actions, _("Pages and actions")),
        ]

    @property
    def is_empty(self) -> bool:
        return not (self.found or self.actions_on or self.actions)


def search(principal: Principal, query: str, slug: str = "", page_name: str = "") -> Results:
    """`slug`: the cluster whose page is open, else the first one; `page_name`: the topic or group
    of that page, if it has one."""
    text = query.strip()[:TEXT_LENGTH_MAX]
    kind = text[0] if text[:1] in (TOPICS, GROUPS, ACTIONS) else ""
    text = text.removeprefix(kind).strip()
    clusters = _searched_clusters(principal, slug)
    found, count = [], 0
    if text and kind != ACTIONS:
        for searched in clusters:
            some, total = _hits_in(searched, text, kind)
            found += [(_order(searched, hit), hit) for hit in some]
            count += total
        found.sort(key=lambda pair: pair[0])
    shown = [hit for _order_key, hit in found[:HITS_MAX]]
    on_names: list[Hit] = []
    pages: list[Hit] = []
    if kind not in (TOPICS, GROUPS):
        for searched in clusters if text else []:
            name = page_name if searched.cluster.slug == slug else ""
            on_names_here = actions_and_pages.actions_on_names(searched, text, name)
            on_names += sorted(on_names_here, key=lambda hit: hit.rank)
        pages = list(
            actions_and_pages.pages_and_actions(
                principal, clusters, text, with_pages=kind != ACTIONS
            )
        )
    pages_max = HITS_MAX - min(len(shown), HITS_MAX // 2)  # at least half of HITS_MAX
    return Results(shown, count, on_names[:ACTIONS_MAX], pages[:pages_max])


def _order(searched: SearchedCluster, hit: Hit) -> tuple[bool, bool, Match, bool]:
    """The sort key of a hit, the best first."""
    is_cluster_name_needed, match = hit.rank
    return is_cluster_name_needed, not searched.is_current, match, not hit.is_in_trouble


def _searched_clusters(principal: Principal, slug: str) -> list[SearchedCluster]:
    """The clusters that the user may see, the open one first."""
    found: list[SearchedCluster] = []
    for cluster in sorted(visible_clusters(principal.user), key=lambda each: each.slug != slug):
        rights = rights_of(principal.user, cluster)
        snapshot = snapshot_cache.snapshot(cluster.slug, rights)
        found.append(SearchedCluster(cluster, rights, snapshot, is_current=not found))
    return found


def _hits_in(searched: SearchedCluster, text: str, kind: str) -> tuple[list[Hit], int]:
    """(the first hits of each kind in a cluster, the number of all)."""
    found: list[Hit | None] = []
    count = 0
    snapshot, words = searched.snapshot, searched.words(text)
    if snapshot and kind != GROUPS and searched.rights.may("topic.view"):
        topics, total = snapshot.find_topics(words, HITS_MAX)
        found += [hits.of_topic(searched, row, words) for row in topics]
        count += total
    if snapshot and kind != TOPICS and searched.rights.may("group.view"):
        groups, total = snapshot.find_groups(words, HITS_MAX)
        found += [hits.of_group(searched, row, words) for row in groups]
        count += total
    if not kind:
        others = [hits.of_cluster(searched, text)]
        if snapshot and searched.rights.may("broker.view"):
            others += [hits.of_broker(searched, row, words) for row in snapshot.brokers]
        found += others
        count += len([hit for hit in others if hit])
    return [hit for hit in found if hit], count
