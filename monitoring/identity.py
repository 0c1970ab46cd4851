"""Which cluster an entry of this console leads to: the cluster id that its brokers tell.

Each sample notes it in the entry's row. Two entries may lead to one cluster; what is said of its
records (console/messages) then holds for both.
"""

from monitoring.clusters import Cluster

_LENGTH_MAX = 200


def note(cluster: Cluster, told: str) -> None:
    """Keeps what the brokers told; an id that is none is as if nothing was told."""
    known = told if len(told) <= _LENGTH_MAX and told.isprintable() else ""
    if known != cluster.kafka_cluster_id:
        cluster.kafka_cluster_id = known
        Cluster.objects.filter(pk=cluster.pk).update(kafka_cluster_id=known)


def others(cluster: Cluster) -> list[Cluster]:
    """The other entries that lead to the same cluster, as far as is known."""
    if not cluster.kafka_cluster_id:
        return []
    same = Cluster.objects.filter(kafka_cluster_id=cluster.kafka_cluster_id)
    return list(same.exclude(pk=cluster.pk))
