"""The Kafka cluster id of each `Cluster` row, as its brokers report it.

Each sample records it. Two rows can refer to the same Kafka cluster; rules for its
records (console/records) then apply to both.
"""

from monitoring.clusters.models import Cluster

_LENGTH_MAX = 200


def record(cluster: Cluster, reported_id: str) -> None:
    """Store the reported id; an invalid id counts as unknown."""
    valid_id = reported_id if len(reported_id) <= _LENGTH_MAX and reported_id.isprintable() else ""
    if valid_id != cluster.kafka_cluster_id:
        cluster.kafka_cluster_id = valid_id
        Cluster.objects.filter(pk=cluster.pk).update(kafka_cluster_id=valid_id)


def others(cluster: Cluster) -> list[Cluster]:
    """The other rows with the same Kafka cluster id."""
    if not cluster.kafka_cluster_id:
        return []
    same = Cluster.objects.filter(kafka_cluster_id=cluster.kafka_cluster_id)
    return list(same.exclude(pk=cluster.pk))
