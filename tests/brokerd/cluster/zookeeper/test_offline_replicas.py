"""What brokers write down that they cannot serve."""

from typing import Any

from brokerd.cluster.zookeeper import offline_replicas
from brokerd.cluster.zookeeper.offline_replicas import NODE_BYTES_MAX, decode, encode
from brokerd.cluster.zookeeper.paths import OFFLINE
from brokerd.topic_partition import TopicPartition

EVENT = "/log_dir_event_notification/"


class Nodes:
    """Stands for ZooKeeper; what every broker says is read after each write."""

    def __init__(self) -> None:
        self.data: dict[str, bytes] = {}
        self.seen: list[dict[int, frozenset[TopicPartition]]] = []
        self.before_get: list[tuple[int, set[TopicPartition]]] = []

    async def children(self, path: str, watch: object = None) -> list[str]:
        return [name.removeprefix(path + "/") for name in self.data if name.startswith(path + "/")]

    async def get_many(self, many: list[str]) -> list[tuple[bytes, None] | None]:
        while self.before_get:
            await self.report(*self.before_get.pop())
        return [(self.data[path], None) if path in self.data else None for path in many]

    async def create(self, path: str, data: bytes, **_: Any) -> None:
        assert path not in self.data or path.startswith(EVENT)
        self.data[path] = data
        self.seen.append(await self.read())

    async def delete(self, path: str) -> None:
        del self.data[path]
        self.seen.append(await self.read())

    async def report(self, broker_id: int, replicas: set[TopicPartition]) -> None:
        zookeeper: Any = self
        await offline_replicas.report(zookeeper, broker_id, replicas)

    async def read(self) -> dict[int, frozenset[TopicPartition]]:
        zookeeper: Any = self
        return await offline_replicas.read(zookeeper)


async def test_nobody_reads_in_between_that_all_is_served() -> None:
    nodes = Nodes()
    many = {("t" * 200 + str(topic), index) for topic in range(500) for index in range(80)}
    for replicas in ({("a", 0)}, {("a", 0), ("b", 1)}, many | {("a", 0)}, {("a", 0), ("c", 2)}):
        await nodes.report(1, replicas)
        assert nodes.seen.pop() == {1: replicas}
    assert all(("a", 0) in said[1] for said in nodes.seen)
    await nodes.report(1, set())
    assert await nodes.children(OFFLINE) == []


async def test_what_is_replaced_while_it_is_read_is_read_anew() -> None:
    nodes = Nodes()
    await nodes.report(1, {("a", 0)})
    nodes.before_get.append((1, {("a", 0), ("b", 1)}))
    assert await nodes.read() == {1: {("a", 0), ("b", 1)}}


async def test_what_no_broker_wrote_is_passed_over() -> None:
    nodes = Nodes()
    nodes.data = {f"{OFFLINE}/x-0": b"{}", f"{OFFLINE}/2-0": b"[1]"}
    await nodes.report(1, {("a", 0)})
    assert await nodes.read() == {1: {("a", 0)}, 2: set()}
    assert set(nodes.data) > {f"{OFFLINE}/x-0", f"{OFFLINE}/2-0"}


def test_replicas_are_written_by_topic() -> None:
    (data,) = encode({("b", 7), ("a", 10), ("a", 2)})
    assert data == b'{"version":1,"topics":{"a":[2,10],"b":[7]}}'
    assert decode(data) == [("a", 2), ("a", 10), ("b", 7)]
    assert encode(set()) == []


def test_as_many_nodes_are_written_as_it_takes() -> None:
    replicas = {("t" * 200 + str(topic), index) for topic in range(500) for index in range(80)}
    nodes = encode(replicas)
    assert len(nodes) > 1
    assert max(map(len, nodes)) <= NODE_BYTES_MAX
    assert {replica for data in nodes for replica in decode(data)} == replicas
