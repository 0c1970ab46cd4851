"""Each action once on real brokers. Tasks are run in place of a worker."""

from dataclasses import asdict

import pytest
from confluent_kafka import Producer

from console.accounts.principal import Principal
from console.actions import models, services
from console.actions.draft import Change, PlanRefused
from console.audit.models import AuditEntry
from console.topics.purge_plans import Purge, propose_purge
from monitoring.gateway.gateway import for_cluster
from monitoring.models import Cluster
from tests.console.actions.conftest import confirm_and_run
from tests.console.actions.test_services import (
    _queued,  # noqa: F401  (a fixture)
    creation,
    make,
    new_topic_name,
    partitions_of,
    propose,
)
from tests.support.live_cluster import LiveCluster

pytestmark = pytest.mark.usefixtures("_queued")


@pytest.fixture
def cluster(db, redis_server, live_cluster: LiveCluster) -> Cluster:
    row = live_cluster.row("local")
    row.save()
    return row


def test_a_topic_is_created_as_planned_and_audited(cluster, operator):
    name = new_topic_name()
    params = creation(name, configs={"retention.ms": "60000"})
    plan = propose(operator, cluster, "topic.create", name, **params)
    assert partitions_of(cluster, name) is None, "a plan changes nothing"
    assert confirm_and_run(plan, operator).state == models.DONE
    assert partitions_of(cluster, name) == 3
    with for_cluster(cluster) as gateway:
        configs = {c.name: c.value for c in gateway.topics.describe_configs(name)}
    assert configs["retention.ms"] == "60000"
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.resource, entry.outcome) == ("topic.create", name, "ok")
    assert (entry.actor_name, entry.remote_addr) == ("operator", "10.0.0.9")
    assert entry.after["partitions"] == 3


def test_partitions_are_added(cluster, operator):
    name = new_topic_name()
    make(cluster, name, 2)
    plan = propose(operator, cluster, "topic.add-partitions", name, total=5)
    assert plan.draft["changes"] == [asdict(Change("Partitions", "2", "5"))]
    assert confirm_and_run(plan, operator).state == models.DONE
    assert partitions_of(cluster, name) == 5


def test_a_topic_is_deleted_only_with_its_name_typed(cluster, admin):
    name = new_topic_name()
    make(cluster, name)
    plan = propose(admin, cluster, "topic.delete", name)
    for typed in ("", "yes", name.upper(), name[:-1]):
        with pytest.raises(PlanRefused, match="exactly"):
            services.confirm(plan, Principal(admin, "10.0.0.9"), typed)
    assert partitions_of(cluster, name) == 2
    assert confirm_and_run(plan, admin, name).state == models.DONE
    assert partitions_of(cluster, name) is None
    assert AuditEntry.objects.get().before["partitions"] == 2


def test_records_are_purged_up_to_the_reviewed_offsets(cluster, admin, live_cluster):
    name = new_topic_name()
    make(cluster, name)
    producer = Producer({"bootstrap.servers": live_cluster.brokerd.bootstrap_servers})
    for number in range(5):
        producer.produce(name, b"%d" % number, partition=0)
    assert producer.flush(30) == 0
    plan = propose_purge(Principal(admin, ""), cluster, name, Purge(before_offset=3))
    assert confirm_and_run(plan, admin, name).state == models.DONE
    with for_cluster(cluster) as gateway:
        assert gateway.log_offsets.ranges([(name, 0)]) == {(name, 0): range(3, 5)}


def test_a_refusal_by_the_broker_shows_its_message(cluster, operator):
    name = new_topic_name()
    params = creation(name, configs={"no.such.setting": "1"})
    with pytest.raises(PlanRefused, match=r"no\.such\.setting"):
        propose(operator, cluster, "topic.create", name, **params)
    assert partitions_of(cluster, name) is None


def test_settings_are_changed_and_restored_by_the_undo(cluster, operator):
    name = new_topic_name()
    make(cluster, name)

    def own() -> dict[str, str | None]:
        with for_cluster(cluster) as gateway:
            entries = gateway.topics.describe_configs(name)
        return {e.name: e.value for e in entries if e.source == "DYNAMIC_TOPIC_CONFIG"}

    params = {"configs": {"retention.ms": "60000", "cleanup.policy": "compact"}}
    plan = propose(operator, cluster, "topic.configure", name, **params)
    assert own() == {}, "a plan changes nothing"
    done = confirm_and_run(plan, operator)
    assert done.state == models.DONE
    assert own() == params["configs"]
    undo = services.propose_undo(done, Principal(operator, "10.0.0.9"), cluster)
    assert confirm_and_run(undo, operator).state == models.DONE
    assert own() == {}
