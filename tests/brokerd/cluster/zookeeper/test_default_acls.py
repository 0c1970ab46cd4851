"""Who may write to ZooKeeper: with `set_acl` brokers only, and nobody takes over what is theirs."""

import asyncio
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from kazoo.client import KazooClient
from kazoo.exceptions import KazooException, NoAuthError
from kazoo.security import OPEN_ACL_UNSAFE

from brokerd.cluster.admin.new_topic_plan import NewTopic, TopicPlan
from brokerd.cluster.membership.broker_id_znode import ClusterError
from brokerd.cluster.zookeeper import default_acls, saved_session
from brokerd.security.jaas import Credentials
from tests.brokerd.cluster.members import Members
from tests.support.zookeeper import OTHER, ZooKeeper
from tests.support.zookeeper_rights import DEADLINE_S, rights_of_all, session


@pytest.fixture
def connect(secured_zookeeper: ZooKeeper) -> str:
    return secured_zookeeper.connect(f"/{uuid4().hex}")


def member(connect: str, zookeeper: ZooKeeper, directory: Path, **changes: Any) -> Any:
    """A member of that cluster with the brokers' credentials, not started."""
    members = Members(zookeeper, directory)
    own = {"zookeeper_connect": connect, "credentials": zookeeper.credentials, "set_acl": True}
    return members.member(1, **(own | changes))


async def test_brokers_alone_write_and_the_world_reads_what_is_not_sensitive(
    secured_zookeeper: ZooKeeper, connect: str, tmp_path: Path
) -> None:
    one = member(connect, secured_zookeeper, tmp_path)
    await one.begin()
    await one.client.topics.create([NewTopic(name="t", partitions=2)], timeout_ms=10_000)
    found = await asyncio.to_thread(rights_of_all, connect, secured_zookeeper.credentials)
    sensitive = {path for path, of in found.items() if of == {"sasl:broker": 31}}
    assert sensitive == {"/config/users", "/config/brokers"}
    others = [of for path, of in found.items() if path not in sensitive]
    assert all(of == {"sasl:broker": 31, "world:anyone": 1} for of in others)
    assert {"/", "/brokers/topics/t/partitions/1/state", "/controller", "/brokers/ids/1"} <= set(
        found
    )
    await asyncio.to_thread(_another_cannot_write, connect)
    await one.client.stop()


def _another_cannot_write(connect: str) -> None:
    with session(connect, OTHER) as client:
        assert client.get_children("/brokers/topics") == ["t"]
        for refused in (
            lambda: client.create("/admin/delete_topics/t"),
            lambda: client.create("/consumers/c"),
            lambda: client.set("/brokers/topics/t", b"{}"),
            lambda: client.delete("/controller"),
            lambda: client.get("/config/users"),
        ):
            with pytest.raises(NoAuthError):
                refused()


async def test_nodes_from_before_are_closed_by_the_first_broker_that_sets_acls(
    secured_zookeeper: ZooKeeper, connect: str, tmp_path: Path
) -> None:
    before = member(connect, secured_zookeeper, tmp_path, set_acl=False)
    await before.begin()
    await before.client.topics.create([NewTopic(name="t", partitions=2)], timeout_ms=10_000)
    await before.client.stop()
    open_nodes = await asyncio.to_thread(rights_of_all, connect, secured_zookeeper.credentials)
    assert all(of == {"world:anyone": 31} for of in open_nodes.values())

    after = member(connect, secured_zookeeper, tmp_path)
    await after.begin()
    closed = await asyncio.to_thread(rights_of_all, connect, secured_zookeeper.credentials)
    assert "/brokers/topics/t/partitions/1/state" in open_nodes.keys() & closed.keys()
    assert not [path for path, of in closed.items() if of.get("world:anyone", 1) != 1]
    await after.client.stop()


async def test_a_walk_that_was_cut_short_is_begun_anew(
    secured_zookeeper: ZooKeeper, connect: str, tmp_path: Path
) -> None:
    one = member(connect, secured_zookeeper, tmp_path)
    await one.begin()
    await one.client.stop()

    def open_again() -> None:
        with session(connect, secured_zookeeper.credentials) as client:
            for path in ("/", "/admin/delete_topics"):  # as if the rest had been done before
                client.set_acls(path, OPEN_ACL_UNSAFE)

    await asyncio.to_thread(open_again)
    again = member(connect, secured_zookeeper, tmp_path)
    await again.begin()
    await again.client.stop()
    found = await asyncio.to_thread(rights_of_all, connect, secured_zookeeper.credentials)
    assert found["/"] == found["/admin/delete_topics"] == {"sasl:broker": 31, "world:anyone": 1}


async def test_nobody_ends_a_brokers_session_without_its_credentials(
    secured_zookeeper: ZooKeeper, connect: str, tmp_path: Path
) -> None:
    """Id and password of a session can be guessed."""
    one = member(connect, secured_zookeeper, tmp_path)
    await one.begin()
    saved = saved_session.load(one.settings.session_file)
    assert saved is not None

    def take_over() -> None:
        thief = KazooClient(connect.partition("/")[0], client_id=(saved.id, saved.password))
        thief.start(DEADLINE_S)
        try:
            with pytest.raises(KazooException):
                thief.get_children_async("/").get(timeout=DEADLINE_S)
        finally:
            thief.stop()
            thief.close()

    for _ in range(2):
        await asyncio.to_thread(take_over)
    registered = await asyncio.to_thread(_owner_of_registration, connect, secured_zookeeper)
    assert registered == saved.id
    assert not one.fatal
    await one.client.stop()


def _owner_of_registration(connect: str, zookeeper: ZooKeeper) -> int:
    with session(connect, zookeeper.credentials) as client:
        stat = client.exists("/brokers/ids/1")
        return int(stat.ephemeralOwner) if stat else 0


async def test_a_broker_without_credentials_or_with_wrong_ones_says_so(
    secured_zookeeper: ZooKeeper, connect: str, tmp_path: Path
) -> None:
    without = member(connect, secured_zookeeper, tmp_path, credentials=None, set_acl=False)
    with pytest.raises(ClusterError, match="wants credentials, or others: name a JAAS file"):
        await without.begin()
    wrong = member(
        connect, secured_zookeeper, tmp_path,
        credentials=Credentials("broker", "wrong"), connect_timeout_ms=3_000,
    )  # fmt: skip
    with pytest.raises(ClusterError, match="ZooKeeper did not take the credentials"):
        await wrong.begin()


async def test_a_broker_shows_its_credentials_again_to_a_server_that_was_away(
    tmp_path: Path,
) -> None:
    pytest.importorskip("puresasl")
    with ZooKeeper.started(tmp_path / "zookeeper", sasl=True) as server:
        one = member(server.connect("/c"), server, tmp_path)
        await one.begin()
        for count in (2, 3):
            await asyncio.to_thread(server.kill)
            await asyncio.to_thread(server.start)
            async with asyncio.timeout(DEADLINE_S):
                while one.client.connects < count or not one.client.is_controller:
                    await asyncio.sleep(0.05)
        topic = NewTopic(name="t", partitions=1)
        made = await one.client.topics.create([topic], timeout_ms=10_000)
        assert isinstance(made["t"], TopicPlan)
        await one.client.stop()


async def test_a_session_that_a_killed_broker_left_is_ended_with_its_credentials(
    secured_zookeeper: ZooKeeper, connect: str, tmp_path: Path
) -> None:
    one = member(connect, secured_zookeeper, tmp_path)
    await one.begin()
    saved = saved_session.load(one.settings.session_file)
    assert saved is not None
    credentials = secured_zookeeper.credentials
    ended = await asyncio.to_thread(saved_session.end, connect, saved, 6_000, credentials)
    assert ended
    await one.client.stop()


def test_sensitive_nodes_are_their_makers_alone() -> None:
    for path in ("/config/users/ada", "/config/brokers/1", "/delegation_token/tokens/x"):
        assert len(default_acls.default_acls(path)) == 1
    for path in ("/", "/config/topics/t", "/consumers", "/delegation_token"):
        assert len(default_acls.default_acls(path)) == 2
