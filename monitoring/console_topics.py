"""The console's own topics: its logs, whose records contain actions of users.

They are on the clusters marked by `Cluster.holds_own_topics`, and on entries with the same cluster
id; on other clusters topics with these names are normal topics. Only admins see them. Webhooks do
not contain them, unless a rule has their full name.
"""

from monitoring.clusters.models import Cluster
from monitoring.scope import Scope
from monitoring.topic_names import CONSOLE_ACCESS, CONSOLE_AUDIT

NAMES = frozenset({CONSOLE_ACCESS, CONSOLE_AUDIT})


def hidden_by_cluster() -> dict[str, frozenset[str]]:
    """Cluster slug → topics that only admins see."""
    entries = list(Cluster.objects.values_list("slug", "kafka_cluster_id", "holds_own_topics"))
    marked_ids = [cluster_id for _slug, cluster_id, is_marked in entries if is_marked]
    return {
        slug: _hidden(cluster_id, is_marked, marked_ids) for slug, cluster_id, is_marked in entries
    }


def hidden_on(cluster: Cluster) -> frozenset[str]:
    """The topics of this cluster that only admins see."""
    if cluster.holds_own_topics:
        return NAMES
    marked = Cluster.objects.filter(holds_own_topics=True)
    ids = list(marked.values_list("kafka_cluster_id", flat=True))
    return _hidden(cluster.kafka_cluster_id, is_marked=False, marked_ids=ids)


def public_scope(cluster: Cluster) -> Scope:
    """The scope of data for recipients without rights, such as webhooks and reports for all
    users."""
    return Scope(hidden_topics=hidden_on(cluster))


def mark_other_entries(cluster: Cluster) -> None:
    """Before an entry is removed: mark the other entries of the same cluster instead."""
    if cluster.holds_own_topics and cluster.kafka_cluster_id:
        same = Cluster.objects.filter(kafka_cluster_id=cluster.kafka_cluster_id)
        same.exclude(pk=cluster.pk).update(holds_own_topics=True)


def _hidden(cluster_id: str, is_marked: bool, marked_ids: list[str]) -> frozenset[str]:
    """The topics that are hidden on an entry: NAMES if it is marked, or may be a marked cluster.

    If one of two cluster ids is unknown, they may be of the same Kafka cluster.
    """
    if is_marked or any(not cluster_id or not other or cluster_id == other for other in marked_ids):
        return NAMES
    return frozenset()
