import pytest

from monitoring.clusters import kafka_cluster_id
from monitoring.models import Cluster

pytestmark = pytest.mark.django_db


def entry(slug: str, kafka_cluster_id: str = "") -> Cluster:
    return Cluster.objects.create(
        slug=slug, bootstrap_servers="127.0.0.1:1", kafka_cluster_id=kafka_cluster_id
    )


def test_entries_without_a_cluster_id_are_not_the_same_cluster():
    one, _other = entry("one"), entry("other")
    assert kafka_cluster_id.others(one) == []


def test_entries_with_the_same_cluster_id_are_the_same_cluster():
    one, other = entry("one"), entry("other", "abc")
    entry("third", "xyz")
    kafka_cluster_id.record(one, "abc")
    one.refresh_from_db()
    assert kafka_cluster_id.others(one) == [other]
    assert kafka_cluster_id.others(other) == [one]


@pytest.mark.parametrize("told", ["", "x" * 5000, "a\x00b", "a\nb"])
def test_an_invalid_cluster_id_counts_as_unknown(told):
    one = entry("one", "abc")
    kafka_cluster_id.record(one, told)
    one.refresh_from_db()
    assert one.kafka_cluster_id == ""
