"""What each change asks of the cluster, and what it says where the cluster does not follow."""

import pytest

from console.topics.actions import wait_for_leaders
from console.topics.actions.add_partitions import AddPartitions
from console.topics.actions.create import CreateTopic
from console.topics.actions.delete import DeleteTopic
from monitoring.gateway.errors import ClusterUnavailable, GatewayError, NotFound, Refused
from tests.support.fake_gateway import FakeCluster
from tests.support.progress_record import ProgressRecord

NEW = {"name": "orders", "partitions": 2, "replication": 1, "configs": {"retention.ms": "1000"}}


@pytest.fixture
def fake(monkeypatch) -> FakeCluster:
    monkeypatch.setattr(wait_for_leaders, "WAIT_SECONDS", 0.1)
    return FakeCluster()


@pytest.fixture
def progress() -> ProgressRecord:
    return ProgressRecord()


def applied(change, fake, params, progress) -> None:
    change.apply(fake.gateway(), params, progress)


def test_a_topic_is_created_with_its_settings(fake, progress):
    applied(CreateTopic(), fake, NEW, progress)
    assert len(fake.topics["orders"].replicas) == 2
    assert fake.topics["orders"].configs == {"retention.ms": "1000"}
    assert progress.steps == [step.key for step in CreateTopic().steps(NEW)]


def test_a_new_topic_is_only_validated_while_it_is_planned(fake):
    facts = CreateTopic().read_facts(fake.gateway(), NEW)
    assert (facts["exists"], facts["brokers"], facts["objection"]) == (False, 2, "")
    assert fake.topics == {}


def test_errors_of_the_brokers_are_facts(fake):
    wrong = NEW | {"configs": {"no.such.setting": "1"}}
    assert "no.such.setting" in CreateTopic().read_facts(fake.gateway(), wrong)["objection"]


def test_colliding_names_are_facts(fake):
    fake.create_topic("a.b")
    assert CreateTopic().read_facts(fake.gateway(), NEW | {"name": "a_b"})["colliding"] == ["a.b"]


def test_partitions_without_a_leader_are_reported(fake, progress):
    fake.create_topic("orders", 1)
    fake.down.add(2)
    with pytest.raises(GatewayError, match="no leader yet"):
        applied(AddPartitions(), fake, {"name": "orders", "total": 3}, progress)
    assert len(fake.topics["orders"].replicas) == 3
    assert progress.steps == ["add", "leaders"]


def test_a_topic_that_still_exists_after_its_deletion_is_reported(fake, progress, monkeypatch):
    fake.create_topic("orders")
    gateway = fake.gateway()
    monkeypatch.setattr(gateway.topics, "delete_topic", lambda name: None)
    with pytest.raises(GatewayError, match="still exists"):
        DeleteTopic().apply(gateway, {"name": "orders"}, ProgressRecord())


def test_a_deleted_topic_is_gone(fake, progress):
    fake.create_topic("orders")
    applied(DeleteTopic(), fake, {"name": "orders"}, progress)
    assert fake.topics == {}
    assert progress.steps == [step.key for step in DeleteTopic().steps(NEW)]


@pytest.mark.parametrize("change", [AddPartitions(), DeleteTopic()])
def test_a_change_to_a_missing_topic_cannot_be_planned(fake, change):
    with pytest.raises(NotFound):
        change.read_facts(fake.gateway(), {"name": "orders", "total": 3})


@pytest.mark.parametrize(
    ("change", "call"),
    [
        (CreateTopic(), "create_topic"),
        (AddPartitions(), "create_partitions"),
        (DeleteTopic(), "delete_topic"),
    ],
)
@pytest.mark.parametrize("error", [Refused("no"), ClusterUnavailable("away")])
def test_a_refusal_by_the_cluster_ends_the_change(fake, progress, change, call, error):
    if call != "create_topic":
        fake.create_topic("orders", 2)
    fake.fails[call] = error
    with pytest.raises(type(error)):
        applied(change, fake, NEW | {"total": 5}, progress)
    assert fake.calls.count(call) == 1
