"""Offsets of a group with real consumers, on brokerd and on Apache Kafka."""

import uuid
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer

from console.accounts.principal import Principal
from console.actions import models, plan_worker, services
from console.groups.compute_reset_offsets import ResetTo
from console.groups.offset_plans import propose_delete_offsets, propose_reset
from console.groups.read_partitions_to_reset import Reset
from monitoring.gateway.gateway import for_cluster
from monitoring.models import Cluster
from tests.console.actions.conftest import confirm_and_run
from tests.console.actions.test_services import _queued  # noqa: F401
from tests.support.waiting import wait_until

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
    """A topic of 2 partitions with 50 records each, and the name of a group."""
    name = f"reset-{uuid.uuid4().hex[:10]}"
    with for_cluster(cluster) as gateway:
        gateway.topics.create_topic(name, 2, 1)
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0})
    for number in range(100):
        producer.produce(name, b"%d" % number, partition=number % 2)
    assert producer.flush(30) == 0
    return name


@pytest.fixture
def consumer(cluster, name) -> Any:
    settings = {
        "bootstrap.servers": cluster.bootstrap_servers, "group.id": name, "log_level": 0,
        "auto.offset.reset": "earliest", "enable.auto.commit": False,
    }  # fmt: skip
    consumer = Consumer(settings)
    consumer.subscribe([name])
    yield consumer
    consumer.close()


def read_all(consumer: Any, count: int) -> list[tuple[int, int]]:
    """(partition, offset) of that many records, which are then committed."""
    found: list[tuple[int, int]] = []

    def is_read() -> bool:
        records = consumer.consume(count - len(found), 1)
        found.extend((record.partition(), record.offset()) for record in records)
        return len(found) >= count

    wait_until(is_read, "the records are read", deadline_s=60)
    consumer.commit(asynchronous=False)
    return found


def committed(cluster: Cluster, name: str) -> dict[int, int]:
    with for_cluster(cluster) as gateway:
        return {key[1]: offset for key, offset in gateway.groups.committed(name).items()}


def test_a_live_group_is_not_changed_and_a_stopped_one_reads_from_its_new_offsets(
    cluster, name, consumer, operator
):
    by = Principal(operator, "10.0.0.9")
    read_all(consumer, 100)
    plan = propose_reset(by, cluster, name, Reset(ResetTo.SHIFT, number=-20))
    assert "The group has 1 member now." in plan.draft["warnings"][0]
    confirm_and_run(plan, operator)
    assert (plan.state, committed(cluster, name)) == (models.FAILED, {0: 50, 1: 50})
    assert "the group has members" in plan.outcome
    consumer.close()
    services.resume(plan, by)
    plan_worker.apply_queued(str(plan.pk))
    assert committed(cluster, name) == {0: 30, 1: 30}
    again = Consumer(
        {"bootstrap.servers": cluster.bootstrap_servers, "group.id": name, "log_level": 0}
    )
    again.subscribe([name])
    assert min(read_all(again, 40)) == (0, 30)
    again.close()


def test_offsets_are_deleted_and_committed_again(cluster, name, consumer, operator):
    by = Principal(operator, "10.0.0.9")
    read_all(consumer, 100)
    consumer.close()
    deletion = confirm_and_run(propose_delete_offsets(by, cluster, name, name), operator)
    assert (deletion.state, committed(cluster, name)) == (models.DONE, {})
    undo = services.propose_undo(deletion, by, cluster)
    assert confirm_and_run(undo, operator).state == models.DONE
    assert committed(cluster, name) == {0: 50, 1: 50}


def test_a_group_is_deleted_and_made_again(cluster, name, consumer, admin):
    by = Principal(admin, "10.0.0.9")
    read_all(consumer, 100)
    consumer.close()
    plan = services.propose(by, cluster, "group.delete", name, {"name": name})
    confirm_and_run(plan, admin, name)
    with for_cluster(cluster) as gateway:
        assert gateway.groups.describe(name).state == "DEAD"
    confirm_and_run(services.propose_undo(plan, by, cluster), admin)
    assert committed(cluster, name) == {0: 50, 1: 50}
