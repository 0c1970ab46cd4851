import pytest

from monitoring.gateway.errors import ClusterUnavailable, NotFound, Refused
from monitoring.gateway.gateway import for_cluster
from monitoring.models import Cluster


@pytest.fixture
def admin(live_cluster):
    with for_cluster(live_cluster.row()) as gateway:
        yield gateway.topics


def test_a_topic_is_created_grown_described_and_deleted(admin):
    admin.create_topic("admin.life", 2, 1, {"retention.ms": "60000"})
    admin.create_partitions("admin.life", 3)
    place = admin.describe_topic("admin.life")
    assert [partition.partition for partition in place.partitions] == [0, 1, 2]
    assert {len(partition.replicas) for partition in place.partitions} == {1}
    admin.delete_topic("admin.life")
    with pytest.raises(NotFound):
        admin.describe_topic("admin.life")


def test_each_topic_has_an_id_of_its_own(admin):
    admin.create_topic("admin.id", 1, 1)
    first = admin.describe_topic("admin.id").topic_id
    assert first
    assert admin.describe_topic("admin.id").topic_id == first
    admin.delete_topic("admin.id")
    admin.create_topic("admin.id", 1, 1)
    assert admin.describe_topic("admin.id").topic_id not in ("", first)


def test_describing_an_unknown_topic_does_not_create_it(admin):
    for _ in range(2):
        with pytest.raises(NotFound):
            admin.describe_topic("admin.never")


def test_configs_have_their_source(admin):
    admin.create_topic("admin.configs", 1, 1, {"retention.ms": "1234"})
    told = {config.name: config for config in admin.describe_configs("admin.configs")}
    assert (told["retention.ms"].value, told["retention.ms"].is_default) == ("1234", False)
    assert told["segment.bytes"].is_default
    assert list(told) == sorted(told)


def test_a_refused_change_has_the_brokers_reason(admin):
    admin.create_topic("admin.twice", 1, 1)
    with pytest.raises(Refused, match="exists"):
        admin.create_topic("admin.twice", 1, 1)
    with pytest.raises(Refused):
        admin.create_topic("no spaces", 1, 1)
    with pytest.raises(Refused):
        admin.create_partitions("admin.twice", 1)


def test_a_cluster_that_is_down_is_reported_to_be(monkeypatch):
    monkeypatch.setattr("monitoring.gateway.request_timeouts.READ_S", 1)
    dead = Cluster(slug="dead", bootstrap_servers="127.0.0.1:1")
    with for_cluster(dead) as gateway, pytest.raises(ClusterUnavailable) as caught:
        gateway.topics.describe_configs("x")
    assert caught.value.retriable
