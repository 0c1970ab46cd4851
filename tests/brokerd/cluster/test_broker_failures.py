"""Brokers, controllers, sessions and ZooKeeper itself that go away and come back."""

import asyncio
import json
import stat
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from kazoo.client import KazooClient

from brokerd.cluster.admin.new_topic_plan import NewTopic
from brokerd.cluster.controller.controller_election import ControllerEpoch
from brokerd.cluster.controller.kafka_controller import DeposedError, KafkaController
from brokerd.cluster.membership.broker_id_znode import ClusterError
from brokerd.cluster.membership.metadata_loader import MetadataLoader
from brokerd.cluster.metadata_image import ImageDelta, MetadataImage
from brokerd.cluster.zookeeper import saved_session
from brokerd.cluster.zookeeper.multi_operations import Create
from brokerd.cluster.zookeeper.partition_change_znodes import decode_entry
from brokerd.errors import ErrorCode, KafkaError
from tests.brokerd.cluster.members import Member, Members
from tests.support.zookeeper import ZooKeeper


@pytest.fixture
async def members(zookeeper: ZooKeeper, tmp_path: Path) -> AsyncIterator[Members]:
    async with Members(zookeeper, tmp_path) as cluster:
        yield cluster


async def _topic(member: Member, name: str = "t", partitions: int = 4) -> None:
    topics = [NewTopic(name=name, partitions=partitions)]
    result = (await member.client.topics.create(topics, timeout_ms=10_000))[name]
    assert not isinstance(result, KafkaError)


def _shown(member: Member) -> list[tuple[int, int, tuple[int, ...]]]:
    partitions = member.client.image.topics["t"].partitions
    return [(s.leader, s.leader_epoch, s.isr) for _, s in sorted(partitions.items())]


async def test_partitions_of_a_broker_that_left_are_offline_until_it_returns(
    members: Members,
) -> None:
    first, second = await members.start(1, 2)
    await _topic(first, partitions=2)
    own = 0 if _shown(first)[0][0] == 2 else 1
    await members.stop(second)
    await members.until(lambda: _shown(first)[own] == (-1, 1, (2,)))
    assert members.node(f"/brokers/topics/t/partitions/{own}/state")["isr"] == [2]
    assert _shown(first)[1 - own] == (1, 0, (1,))
    (back,) = await members.start(2)
    await members.until(lambda: _shown(back)[own] == (2, 2, (2,)))
    await members.until(lambda: _shown(first)[own] == (2, 2, (2,)))


async def test_what_a_live_broker_cannot_serve_is_known_to_all_as_long_as_it_says_so(
    members: Members,
) -> None:
    first, second = await members.start(1, 2)
    await _topic(first, partitions=2)
    own = 0 if _shown(first)[0][0] == 2 else 1
    second.client.report_offline([("t", own)])
    await members.until(lambda: _shown(second)[own] == (-1, 1, (2,)))
    await members.until(lambda: first.client.image.is_offline("t", own, 2))
    assert not first.client.image.is_offline("t", 1 - own, 1)
    assert members.node("/brokerd/offline/2-0") == {"version": 1, "topics": {"t": [own]}}
    await members.until(lambda: members.kazoo.get_children("/log_dir_event_notification") == [])
    await members.stop(first)
    await members.until(lambda: second.client.is_controller)
    assert _shown(second)[own] == (-1, 1, (2,)), "a successor knows it, too"
    second.client.report_offline([])
    await members.until(lambda: _shown(second)[own] == (2, 2, (2,)))
    assert members.kazoo.get_children("/brokerd/offline") == []


async def test_another_broker_becomes_controller_and_serves(members: Members) -> None:
    started = await members.start(1, 2, 3)
    old = members.controller()
    await _topic(old)
    await members.stop(old)
    await members.until(lambda: any(m.client.is_controller for m in started if m is not old))
    assert members.controller().client.image.controller_epoch == 2
    await _topic(members.controller(), "later")
    results = await members.controller().client.topics.delete(["later"], timeout_ms=10_000)
    assert results == {"later": None}


async def test_a_deposed_controller_cannot_write(members: Members) -> None:
    (only,) = await members.start(1)
    stale = ControllerEpoch(epoch=0, version=0)
    service = KafkaController(only.client._zookeeper, stale, lambda: None)
    with pytest.raises(DeposedError):
        await service.fenced([Create("/brokers/topics/t", b"{}")])
    assert not members.kazoo.exists("/brokers/topics/t")


async def test_a_successor_tells_what_its_predecessor_wrote_but_did_not_announce(
    members: Members,
) -> None:
    started = await members.start(1, 2, 3)
    old = members.controller()
    await _topic(old, partitions=3)
    watcher = next(m for m in started if m is not old)
    index = next(
        i for i, (leader, _, _) in enumerate(_shown(old)) if leader != old.settings.broker_id
    )
    path = f"/brokers/topics/t/partitions/{index}/state"
    state = members.node(path) | {"leader_epoch": 9}
    members.kazoo.set(path, json.dumps(state).encode())
    assert _shown(watcher)[index][1] == 0
    await members.stop(old)
    for member in started:
        if member is not old:
            await members.until(lambda m=member: _shown(m)[index][1] == 9)


async def test_a_state_that_another_wrote_meanwhile_is_decided_anew_and_written(
    members: Members,
) -> None:
    (only,) = await members.start(1)
    await _topic(only, partitions=2)
    path = "/brokers/topics/t/partitions/1/state"
    members.kazoo.set(path, json.dumps(members.node(path)).encode())  # the version is another one
    only.client.report_offline([("t", 0), ("t", 1)])
    await members.until(lambda: _shown(only) == [(-1, 1, (1,)), (-1, 1, (1,))])


async def test_a_partition_whose_state_cannot_be_written_does_not_stop_the_others(
    members: Members,
) -> None:
    (only,) = await members.start(1)
    await _topic(only, partitions=2)
    members.kazoo.set("/brokers/topics/t/partitions/1/state", b"{no JSON")
    only.client.report_offline([("t", 0), ("t", 1)])
    await members.until(lambda: _shown(only)[0] == (-1, 1, (1,)))
    assert _shown(only)[1][1] == 0


async def test_changes_are_told_in_one_entry_and_purged_when_all_have_applied_them(
    members: Members,
) -> None:
    started = await members.start(1, 2)
    await _topic(members.controller(), partitions=300)

    def applied() -> set[int]:
        return {int(members.kazoo.get(f"/brokerd/applied/{b}")[0]) for b in (1, 2)}

    entries = sorted(members.kazoo.get_children("/brokerd/changes"))
    entry = decode_entry(members.kazoo.get(f"/brokerd/changes/{entries[-1]}")[0])
    assert (len(entry.states), entry.controller_epoch) == (300, 1)
    assert entry.previous == entry.number - 1
    await _topic(members.controller(), "u")
    await members.until(lambda: applied() == {entry.number + 1})
    newest = [f"change_{entry.number + 1:010d}"]
    await members.until(lambda: members.kazoo.get_children("/brokerd/changes") == newest)
    assert all(len(m.client.image.topics["t"].partitions) == 300 for m in started)


async def test_a_broker_that_missed_an_entry_loads_everything(members: Members) -> None:
    (only,) = await members.start(1)
    await _topic(only, "a")
    image = MetadataImage()

    async def changed(delta: ImageDelta) -> None:
        pass

    loader = MetadataLoader(only.client._zookeeper, 99, image, changed, lambda _: None)
    await loader.load()
    assert set(image.topics) == {"a"}
    await _topic(only, "b")
    await _topic(only, "c")
    first, second = sorted(members.kazoo.get_children("/brokerd/changes"))[-2:]
    members.kazoo.delete(f"/brokerd/changes/{first}")
    await loader.apply_changes()
    assert set(image.topics) == {"a", "b", "c"}
    assert int(members.kazoo.get("/brokerd/applied/99")[0]) == int(second[-10:])


async def test_a_topic_whose_node_cannot_be_read_is_not_taken_for_deleted(
    members: Members,
) -> None:
    (only,) = await members.start(1)
    await _topic(only, "kept", partitions=1)
    await _topic(only, "removed", partitions=1)
    deltas: list[ImageDelta] = []

    async def changed(delta: ImageDelta) -> None:
        deltas.append(delta)

    loader = MetadataLoader(only.client._zookeeper, 99, MetadataImage(), changed, lambda _: None)
    await loader.load()
    members.kazoo.set("/brokers/topics/kept", b"{no JSON")
    members.kazoo.delete("/brokers/topics/removed", recursive=True)
    await loader.load()
    assert [delta.deleted for delta in deltas if delta.deleted] == [[("removed", 0)]]


async def test_a_broker_hears_at_its_return_what_was_deleted_while_it_was_away(
    members: Members,
) -> None:
    first, second = await members.start(1, 2)
    await _topic(members.controller(), partitions=2)
    away, other = (first, second) if second.client.is_controller else (second, first)
    await members.stop(away)
    await other.client.topics.delete(["t"], timeout_ms=100)
    assert members.kazoo.exists("/brokers/topics/t") is not None
    (back,) = await members.start(away.settings.broker_id)
    deleted = [key for delta in back.deltas for key in delta.deleted]
    assert deleted == [("t", 0), ("t", 1)]
    await members.until(lambda: members.kazoo.exists("/brokers/topics/t") is None)


async def test_a_removed_registration_is_made_again(members: Members) -> None:
    first, second = await members.start(1, 2)
    await _topic(first, partitions=2)
    members.kazoo.delete("/brokers/ids/2")
    await members.until(lambda: members.kazoo.exists("/brokers/ids/2") is not None)
    for member in (first, second):
        await members.until(
            lambda m=member: (
                [s[0] for s in _shown(m)] in ([1, 2], [2, 1]) and max(s[1] for s in _shown(m)) >= 1
            )
        )


async def test_a_session_that_ended_is_replaced_and_nothing_is_missed(members: Members) -> None:
    first, second = await members.start(1, 2)
    await _topic(first, partitions=2)
    session = second.client._zookeeper.session
    assert session is not None
    await asyncio.to_thread(
        saved_session.end,
        members.connect,
        saved_session.SavedSession(*session),
        6_000,
    )
    await members.until(lambda: second.client._joined_session not in (0, session[0]))
    await _topic(members.controller(), "later")
    await members.until(lambda: "later" in second.client.image.topics)
    await members.until(lambda: -1 not in [s[0] for s in _shown(second)])


async def test_a_broker_whose_loop_stands_still_leaves_and_comes_back(members: Members) -> None:
    (only,) = await members.start(1, session_timeout_ms=1_000)
    session = only.client._zookeeper.session[0]
    deadline_s = time.monotonic() + 20
    while members.kazoo.exists("/brokers/ids/1") is not None:  # all the while the loop waits
        assert time.monotonic() < deadline_s, "the session outlives the loop"
        time.sleep(0.01)
    await members.until(lambda: members.kazoo.exists("/brokers/ids/1") is not None)
    assert only.client._zookeeper.session[0] != session
    await members.until(lambda: only.client.is_controller)
    await _topic(only)
    assert only.fatal == []


async def test_the_session_of_a_killed_predecessor_is_ended_at_once(
    members: Members, tmp_path: Path
) -> None:
    await members.start(2)
    predecessor = KazooClient(hosts=members.connect, timeout=10)
    await asyncio.to_thread(predecessor.start)
    try:
        predecessor.create(
            "/brokers/ids/1", b'{"version":5,"endpoints":["A://h:1"]}', ephemeral=True
        )
        held = saved_session.SavedSession(*predecessor.client_id)
        saved_session.save(tmp_path / "session-1", held)
        assert stat.S_IMODE((tmp_path / "session-1").stat().st_mode) == 0o600
        (back,) = await members.start(1)
        owner = members.kazoo.exists("/brokers/ids/1").ephemeralOwner
        assert owner == back.client._zookeeper.session[0] != held.id
        assert saved_session.load(tmp_path / "session-1") != held
    finally:
        await asyncio.to_thread(predecessor.stop)
        predecessor.close()


async def test_a_live_broker_with_the_same_id_is_a_clear_error(
    members: Members, tmp_path: Path
) -> None:
    await members.start(1, session_timeout_ms=1_000)
    elsewhere = tmp_path / "session-of-the-twin"
    twin = members.member(1, session_timeout_ms=1_000, session_file=elsewhere)
    with pytest.raises(ClusterError, match=r"broker.id 1 is taken by the live broker at PLAINTEXT"):
        await twin.begin()
    assert members.node("/brokers/ids/1")["port"] == 9001


async def test_data_of_another_cluster_do_not_join(members: Members) -> None:
    await members.start(1)
    stranger = members.member(2, cluster_id="someone-elses")
    with pytest.raises(ClusterError, match="leads to the cluster"):
        await stranger.begin()
    assert not members.kazoo.exists("/brokers/ids/2")


async def test_an_unreadable_saved_session_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "session").write_text("{]")
    assert saved_session.load(tmp_path / "session") is None
    assert saved_session.load(tmp_path / "absent") is None


async def test_brokers_outlive_an_outage_of_zookeeper(tmp_path: Path) -> None:
    with ZooKeeper.started(tmp_path / "zookeeper") as own:
        async with Members(own, tmp_path) as members:
            first, second = await members.start(1, 2)
            await _topic(members.controller())
            await asyncio.to_thread(own.kill)
            await members.until(lambda: first.client.disconnected_since_ms is not None)
            assert len(_shown(first)) == 4
            results = await members.controller().client.topics.create(
                [NewTopic(name="u")], timeout_ms=1_000
            )
            error = results["u"]
            assert isinstance(error, KafkaError)
            assert error.code is ErrorCode.REQUEST_TIMED_OUT
            with pytest.raises(KafkaError, match="not reachable"):
                await first.client.next_producer_id_block()
            await asyncio.to_thread(own.start)
            for member in (first, second):
                await members.until(lambda m=member: m.client.disconnected_since_ms is None)
            await _topic(members.controller(), "later")
            for member in (first, second):
                await members.until(lambda m=member: "later" in m.client.image.topics)
                assert -1 not in [s[0] for s in _shown(member)]


async def test_a_broker_that_is_slow_to_apply_changes_is_elected_meanwhile(
    members: Members,
) -> None:
    started = await members.start(1, 2)
    leaving = members.controller()
    (slow,) = (each for each in started if each is not leaving)
    slow.may_apply.clear()
    await leaving.client.topics.create([NewTopic(name="t", partitions=2)], timeout_ms=1)
    await members.until(lambda: "t" in slow.client.image.topics)
    slow.deltas.clear()
    await members.stop(leaving)
    await members.until(lambda: slow.client.is_controller)
    assert slow.deltas == []
    slow.may_apply.set()
    await members.until(lambda: any(delta.brokers_changed for delta in slow.deltas))
    assert slow.deltas[0].partitions
