"""Reassignment, throttle, cancel and election on three brokers of Apache Kafka."""

from contextlib import ExitStack

import pytest
from confluent_kafka import Producer

from console.accounts.principal import Principal
from console.actions import models, plan_queue, plan_worker, services
from console.actions.models import Plan
from console.reassignments import reassignment_plans, reassignments_page, replication_throttle
from console.reassignments.reassignment_plans import WantedAssignment
from monitoring.gateway.gateway import for_cluster
from monitoring.models import Cluster
from tests.support.kafka import apache_kafka
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.django_db]


@pytest.fixture(scope="module")
def brokers(zookeeper, tmp_path_factory):
    with ExitStack() as stack:
        connect = zookeeper.connect("/reassigned")
        folders = [tmp_path_factory.mktemp(f"broker-{id}") for id in (1, 2, 3)]
        yield [
            stack.enter_context(apache_kafka(folder, connect, broker_id=id))
            for id, folder in enumerate(folders, 1)
        ]


@pytest.fixture
def cluster(brokers, redis_server, monkeypatch):
    monkeypatch.setattr(plan_queue, "send", lambda plan: None)
    addresses = ",".join(broker.address for broker in brokers)
    return Cluster.objects.create(slug="kafka", name="Kafka", bootstrap_servers=addresses)


@pytest.fixture
def principal(cluster, admin):
    return Principal(admin, "10.0.0.9")


@pytest.fixture
def topic(cluster, request):
    """Two partitions with 2 MiB each and two replicas."""
    name = f"orders-{abs(hash(request.node.name)) % 10**8}"
    with for_cluster(cluster) as gateway:
        gateway.topics.create_topic(name, 2, 2)
        wait_until(lambda: gateway.wire.has_topic(name), "the topic is there")
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0})
    for number in range(64):
        producer.produce(name, bytes(2**16), partition=number % 2)
    assert producer.flush(30) == 0
    return name


def apply(plan: Plan) -> Plan:
    services.confirm(plan, Principal(plan.created_by), "")
    while plan.is_open:
        plan_worker.apply_queued(str(plan.pk))
        plan.refresh_from_db()
    return plan


def plan_of(principal, cluster, topic, **wanted) -> Plan:
    state = reassignment_plans.read_state(cluster, [topic])
    return reassignment_plans.propose_reassignment(
        principal, cluster, [topic], state, WantedAssignment(**wanted)
    )


def replicas_of(cluster, topic):
    with for_cluster(cluster) as gateway:
        return [each.replicas for each in gateway.topics.describe_topic(topic).partitions]


def test_partitions_move_with_a_throttle_that_is_removed(principal, cluster, topic):
    before = replicas_of(cluster, topic)
    added = [next(iter({1, 2, 3} - set(ids))) for ids in before]
    target = {(topic, n): (added[n], before[n][0]) for n in (0, 1)}
    plan = plan_of(principal, cluster, topic, brokers=[], assignment=target, throttle=100 * 2**20)
    assert sum(plan.facts["arriving"].values()) >= 4 * 2**20
    assert plan.facts["free"][str(added[0])] > 0
    assert apply(plan).state == models.DONE, plan.outcome
    assert replicas_of(cluster, topic) == list(target.values())
    with for_cluster(cluster) as gateway:
        settings = {each.name: each for each in gateway.topics.describe_configs(topic)}
        rates = {each.name: each.value for each in gateway.broker_configs.describe(added[0])}
    assert settings[replication_throttle.LEADER_REPLICAS].is_default
    assert rates.get(replication_throttle.FOLLOWER_RATE) is None
    undo = services.propose_undo(plan, principal, cluster)
    assert apply(undo).state == models.DONE, undo.outcome
    assert replicas_of(cluster, topic) == before


def test_the_replication_factor_grows_and_shrinks(principal, cluster, topic):
    for factor in (3, 1):
        plan = plan_of(principal, cluster, topic, brokers=[1, 2, 3], factor=factor)
        assert apply(plan).state == models.DONE, plan.outcome
        assert {len(ids) for ids in replicas_of(cluster, topic)} == {factor}


def test_a_reassignment_of_another_tool_is_listed_and_cancelled(principal, cluster, topic):
    before = replicas_of(cluster, topic)
    [absent] = {1, 2, 3} - set(before[0])
    with for_cluster(cluster) as gateway:
        for broker in (1, 2, 3):
            rates = {
                replication_throttle.LEADER_RATE: "1000",
                replication_throttle.FOLLOWER_RATE: "1000",
            }
            gateway.broker_configs.alter(broker, rates)
        names = {
            replication_throttle.LEADER_REPLICAS: "*",
            replication_throttle.FOLLOWER_REPLICAS: "*",
        }
        gateway.topics.alter_configs(topic, names)
        target = (*before[0], absent)
        assert gateway.reassignments.alter({(topic, 0): target}) == {}
    [row] = reassignments_page.read_progress(principal, cluster)
    assert (row.running.topic, row.running.adding) == (topic, (absent,))
    assert row.total >= 2**20
    plan = reassignment_plans.propose_cancel(principal, cluster, topic)
    assert apply(plan).state == models.DONE, plan.outcome
    assert replicas_of(cluster, topic) == before
    assert reassignments_page.read_progress(principal, cluster) == []


def test_the_preferred_leader_is_elected(principal, cluster, topic):
    target = {(topic, 0): tuple(reversed(replicas_of(cluster, topic)[0]))}
    plan = plan_of(principal, cluster, topic, brokers=[], assignment=target)
    assert apply(plan).state == models.DONE, plan.outcome
    election = reassignment_plans.propose_election(principal, cluster, topic, 0)
    assert [each["name"] for each in election.draft["changes"]] == [f"{topic}-0"]
    assert apply(election).state == models.DONE, election.outcome
    with for_cluster(cluster) as gateway:
        first = gateway.topics.describe_topic(topic).partitions[0]
    assert first.leader == first.replicas[0] == target[topic, 0][0]
