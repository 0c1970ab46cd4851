"""Consumer groups with real clients: sharing, joining, leaving, dying, going on from offsets."""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from tests.support.brokerd import BrokerdCluster
from tests.support.group_members import (
    AiokafkaMember,
    ConfluentMember,
    KafkaPythonMember,
    Member,
    MemberProcess,
)
from tests.support.waiting import wait_until
from tests.support.zookeeper import ZooKeeper

PARTITIONS = 4
CLIENTS = [ConfluentMember, KafkaPythonMember, AiokafkaMember]
RANGE = {"partition.assignment.strategy": "range"}


@pytest.fixture(scope="module")
def bootstrap(zookeeper: ZooKeeper, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    directory: Path = tmp_path_factory.mktemp("groups-members")
    connect = zookeeper.connect("/groups-members")
    with BrokerdCluster.started(directory, connect, brokers=2) as cluster:
        yield cluster.bootstrap_servers


@pytest.fixture
def topic(bootstrap: str) -> str:
    """A new topic of four partitions."""
    name = f"t-{uuid4().hex[:8]}"
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.create_topics([NewTopic(name, PARTITIONS, 1)])[name].result(30)
    return name


@pytest.fixture
def group() -> str:
    return f"g-{uuid4().hex[:8]}"


def produce(bootstrap: str, topic: str, values: range) -> None:
    producer = Producer({"bootstrap.servers": bootstrap})
    for value in values:
        producer.produce(topic, str(value), partition=value % PARTITIONS)
    assert producer.flush(30) == 0


def values(*members: Member) -> list[int]:
    return sorted(int(record.value) for member in members for record in member.received)


@pytest.mark.parametrize("client", CLIENTS)
def test_two_members_share_and_the_one_that_stays_takes_over(
    bootstrap: str, topic: str, group: str, client: type[Member]
) -> None:
    with client(bootstrap, group, topic) as first:
        assert first.owns(PARTITIONS) == {0, 1, 2, 3}
        with client(bootstrap, group, topic) as second:
            halves = first.owns(2), second.owns(2)
            assert halves[0] | halves[1] == {0, 1, 2, 3}
            produce(bootstrap, topic, range(100))
            first.got(50)
            second.got(50)
            assert values(first, second) == list(range(100))
        assert first.owns(PARTITIONS) == {0, 1, 2, 3}
        produce(bootstrap, topic, range(100, 120))
        first.got(70)
    assert values(first, second) == list(range(120))


@pytest.mark.parametrize("client", CLIENTS)
def test_the_next_member_goes_on_where_the_last_one_committed(
    bootstrap: str, topic: str, group: str, client: type[Member]
) -> None:
    produce(bootstrap, topic, range(40))
    with client(bootstrap, group, topic) as first:
        first.got(40)
    produce(bootstrap, topic, range(40, 60))
    with client(bootstrap, group, topic) as second:
        second.got(20)
    assert values(second) == list(range(40, 60))


def test_members_of_different_clients_share_one_group(
    bootstrap: str, topic: str, group: str
) -> None:
    with (
        ConfluentMember(bootstrap, group, topic, **RANGE) as first,
        KafkaPythonMember(bootstrap, group, topic) as second,
        AiokafkaMember(bootstrap, group, topic) as third,
    ):
        members: list[Member] = [first, second, third]
        wait_until(lambda: is_shared(members), "each has its part")
        produce(bootstrap, topic, range(60))
        wait_until(lambda: len(values(*members)) >= 60, "all was received")
        assert values(*members) == list(range(60))


def is_shared(members: list[Member]) -> bool:
    """Whether every member has some partitions, and every partition one owner."""
    owned = [member.assigned for member in members]
    return all(owned) and sorted(index for part in owned for index in part) == [0, 1, 2, 3]


def test_the_partitions_of_a_killed_member_go_to_the_others(
    bootstrap: str, topic: str, group: str
) -> None:
    doomed = MemberProcess(bootstrap, group, topic)
    try:
        doomed.wait_for_partitions()
        with ConfluentMember(bootstrap, group, topic) as survivor:
            survivor.owns(2)
            doomed.kill()
            survivor.owns(PARTITIONS)
            produce(bootstrap, topic, range(40))
            survivor.got(40)
            assert values(survivor) == list(range(40))
    finally:
        doomed.kill()


def test_a_cooperative_member_keeps_half_of_its_partitions_all_along(
    bootstrap: str, topic: str, group: str
) -> None:
    cooperative = {"partition.assignment.strategy": "cooperative-sticky"}
    with ConfluentMember(bootstrap, group, topic, **cooperative) as first:
        first.owns(PARTITIONS)
        with ConfluentMember(bootstrap, group, topic, **cooperative) as second:
            kept, taken = first.owns(2), second.owns(2)
            assert kept | taken == {0, 1, 2, 3}
            assert first.revoked == [taken]
        first.owns(PARTITIONS)


def test_a_static_member_that_comes_back_disturbs_nobody(
    bootstrap: str, topic: str, group: str
) -> None:
    with ConfluentMember(bootstrap, group, topic, **{"group.instance.id": "one"}) as first:
        with ConfluentMember(bootstrap, group, topic, **{"group.instance.id": "two"}) as second:
            before = second.owns(2)
            first.owns(2)
            rebalances = first.rebalances
        with ConfluentMember(bootstrap, group, topic, **{"group.instance.id": "two"}) as second:
            assert second.owns(2) == before
            assert first.rebalances == rebalances


def test_a_second_process_with_the_same_instance_id_fences_the_first(
    bootstrap: str, topic: str, group: str
) -> None:
    one = {"group.instance.id": "one"}
    with ConfluentMember(bootstrap, group, topic, **one) as first:
        first.owns(PARTITIONS)
        with ConfluentMember(bootstrap, group, topic, **one) as second:
            second.owns(PARTITIONS)
            wait_until(lambda: "fenced" in str(first.failure), "the first is fenced")
