"""Settings, purge, clone and changes of several topics on brokerd and on Apache Kafka."""

import time
import uuid

import pytest
from confluent_kafka import Producer

from console.accounts.principal import Principal
from console.actions import models, services
from console.actions.draft import PlanRefused
from console.topics.bulk_plans import propose_bulk
from console.topics.configure_form import ConfigureForm
from console.topics.new_topic_presets import initial_values_like
from console.topics.purge_plans import Purge, propose_purge
from monitoring.gateway.gateway import for_cluster
from monitoring.models import Cluster
from tests.console.actions.conftest import confirm_and_run
from tests.console.actions.test_services import (
    _queued,  # noqa: F401  (a fixture)
    propose,
)

pytestmark = pytest.mark.usefixtures("_queued")


@pytest.fixture(params=["brokerd", pytest.param("kafka", marks=pytest.mark.kafka)])
def cluster(db, redis_server, request) -> Cluster:
    if request.param == "brokerd":
        address = request.getfixturevalue("live_cluster").brokerd.bootstrap_servers
    else:
        address = request.getfixturevalue("shared_kafka").address
    return Cluster.objects.create(slug="local", name="Local", bootstrap_servers=address)


@pytest.fixture
def name(cluster) -> str:
    """A topic of 2 partitions with 5 records in the first one."""
    name = f"change-{uuid.uuid4().hex[:10]}"
    with for_cluster(cluster) as gateway:
        gateway.topics.create_topic(name, 2, 1, {"retention.ms": "86400000"})
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0})
    for number in range(5):
        producer.produce(name, b"%d" % number, partition=0)
    assert producer.flush(30) == 0
    return name


def own(cluster: Cluster, name: str) -> dict[str, str | None]:
    with for_cluster(cluster) as gateway:
        entries = gateway.topics.describe_configs(name)
    return {e.name: e.value for e in entries if e.source == "DYNAMIC_TOPIC_CONFIG"}


def log(cluster: Cluster, name: str) -> range:
    with for_cluster(cluster) as gateway:
        return gateway.log_offsets.ranges([(name, 0)])[name, 0]


def test_a_setting_is_changed_reset_to_its_default_and_restored(cluster, name, operator):
    with for_cluster(cluster) as gateway:
        form = ConfigureForm(
            {"default:retention.ms": "on", "segment.bytes": "2000000"},
            gateway.topics.describe_configs(name),
        )
    assert form.is_valid()
    plan = propose(operator, cluster, "topic.configure", name, configs=form.configs())
    done = confirm_and_run(plan, operator)
    assert done.state == models.DONE
    assert own(cluster, name) == {"segment.bytes": "2000000"}
    undo = services.propose_undo(done, Principal(operator, ""), cluster)
    assert confirm_and_run(undo, operator).state == models.DONE
    assert own(cluster, name) == {"retention.ms": "86400000"}


def test_records_are_purged_to_an_offset_a_time_and_all(cluster, name, admin):
    user = Principal(admin, "")
    plan = propose_purge(user, cluster, name, Purge(before_offset=2))
    assert confirm_and_run(plan, admin, name).state == models.DONE
    assert log(cluster, name) == range(2, 5)
    with pytest.raises(PlanRefused, match="no records"):
        propose_purge(user, cluster, name, Purge(before_ms=1000))
    later_ms = int(time.time() * 1000) + 3_600_000
    assert propose_purge(user, cluster, name, Purge(before_ms=later_ms)).params["offsets"] == {
        "0": 5
    }
    plan = propose_purge(user, cluster, name, Purge())
    assert confirm_and_run(plan, admin, name).state == models.DONE
    assert log(cluster, name) == range(5, 5)


def test_a_compacted_topic_is_not_purged(cluster, name, admin):
    with for_cluster(cluster) as gateway:
        gateway.topics.alter_configs(name, {"cleanup.policy": "compact"})
    with pytest.raises(PlanRefused, match="contains “delete”"):
        propose_purge(Principal(admin, ""), cluster, name, Purge())


def test_a_clone_has_the_partitions_and_settings(cluster, name):
    with for_cluster(cluster) as gateway:
        assert initial_values_like(gateway, name) == {
            "partitions": 2,
            "replication": 1,
            "settings": "retention.ms=86400000",
        }


def test_several_topics_are_configured_purged_and_deleted(cluster, name, admin):
    other = f"{name}.other"
    with for_cluster(cluster) as gateway:
        gateway.topics.create_topic(other, 1, 1)
    names, user = [name, other], Principal(admin, "")
    for action, typed in (("configure", ""), ("purge", "purge 2"), ("delete", "delete 2")):
        plan = propose_bulk(user, cluster, f"topics.{action}", names, {"retention.ms": "1000000"})
        assert confirm_and_run(plan, admin, typed).state == models.DONE, action
        assert plan.applied_items == set(names)
        if action == "configure":
            assert own(cluster, other) == {"retention.ms": "1000000"}
        if action == "purge":
            assert len(log(cluster, name)) == 0
    with for_cluster(cluster) as gateway:
        assert not gateway.wire.has_topic(other)
