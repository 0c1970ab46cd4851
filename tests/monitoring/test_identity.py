import pytest

from monitoring import identity
from monitoring.models import Cluster

pytestmark = pytest.mark.django_db


def entry(slug: str, kafka_cluster_id: str = "") -> Cluster:
    return Cluster.objects.create(
        slug=slug, bootstrap_servers="127.0.0.1:1", kafka_cluster_id=kafka_cluster_id
    )


def test_entries_of_which_nothing_is_known_are_not_the_same():
    one, _other = entry("one"), entry("other")
    assert identity.others(one) == []


def test_entries_whose_brokers_tell_one_id_lead_to_one_cluster():
    one, other = entry("one"), entry("other", "abc")
    entry("third", "xyz")
    identity.record(one, "abc")
    one.refresh_from_db()
    assert identity.others(one) == [other]
    assert identity.others(other) == [one]


@pytest.mark.parametrize("told", ["", "x" * 5000, "a\x00b", "a\nb"])
def test_what_is_no_id_makes_nothing_the_same(told):
    one = entry("one", "abc")
    identity.record(one, told)
    one.refresh_from_db()
    assert one.kafka_cluster_id == ""
