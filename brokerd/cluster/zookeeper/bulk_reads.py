"""What brokers and the controller read from ZooKeeper in bulk, in runs, so that no callback of the
loop takes long. A node that cannot be read is logged and passed over: one bad topic must not keep a
broker from serving the others.
"""

import logging
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

from brokerd.cluster.zookeeper import paths, zk_data
from brokerd.cluster.zookeeper.zookeeper_client import Node, Watch, ZooKeeper
from brokerd.config.dynamic_broker_config import DEFAULT_NAME
from brokerd.event_loop_turns import in_turns

logger = logging.getLogger(__name__)

T = TypeVar("T")
DELETION_BEGUN = b"begun"
"""In a topic's mark for deletion, which Kafka leaves empty and does not read."""
TOPICS_PER_RUN = 100
STATES_PER_RUN = 250


class ReadTopic(NamedTuple):
    name: str
    node: zk_data.TopicNode
    version: int
    created_zxid: int


def readable(decode: Callable[..., T], *args: Any) -> T | None:
    """What a node holds; None, with a line in the log, if it does not parse."""
    try:
        return decode(*args)
    except zk_data.NodeFormatError as error:
        logger.error("passed over: %s", error)
        return None


async def live_brokers(
    zookeeper: ZooKeeper, watch: Watch, changed: Watch | None = None
) -> dict[int, zk_data.RegisteredBroker]:
    """The registered brokers; `changed` is called when one changes its listeners."""
    names = await zookeeper.children(paths.BROKER_IDS, watch)
    ids = sorted(int(name) for name in names if name.isdigit())
    nodes = await zookeeper.get_many([paths.broker(broker_id) for broker_id in ids], changed)
    brokers = {}
    for broker_id, node in zip(ids, nodes, strict=True):
        info = node and readable(zk_data.decode_broker, broker_id, node[0], node[1].czxid)
        if info is not None:
            brokers[broker_id] = info
    return brokers


async def deletions(
    zookeeper: ZooKeeper, watch: Watch | None = None
) -> tuple[list[str], list[str]]:
    """The topics marked for deletion, and those of them whose deletion has begun: brokers may have
    deleted their logs. Whether the others are deleted is still to be decided by the controller."""
    marked = await zookeeper.children(paths.DELETE_TOPICS, watch)
    nodes = await zookeeper.get_many([paths.delete_topic(name) for name in marked])
    found = zip(marked, nodes, strict=True)
    return marked, [name for name, node in found if node is not None and node[0] == DELETION_BEGUN]


async def topics(zookeeper: ZooKeeper, names: Sequence[str]) -> AsyncIterator[list[ReadTopic]]:
    """The named topics, in runs; deleted ones are left out."""
    for start in range(0, len(names), TOPICS_PER_RUN):
        run = names[start : start + TOPICS_PER_RUN]
        nodes = await zookeeper.get_many([paths.topic(name) for name in run])
        read: list[ReadTopic] = []
        await in_turns(zip(run, nodes, strict=True), partial(_take_topic, read))
        yield read


def _take_topic(read: list[ReadTopic], found: tuple[str, Node | None]) -> None:
    name, node = found
    decoded = node and readable(zk_data.decode_topic, name, node[0])
    if node is not None and decoded is not None:
        read.append(ReadTopic(name, decoded, node[1].version, node[1].czxid))


async def states(zookeeper: ZooKeeper, read: Iterable[ReadTopic]) -> list[zk_data.LoadedState]:
    """The states of these topics' partitions; a partition without a state is left out."""
    wanted = [
        (topic.name, topic.node, index)
        for topic in read
        if topic.node.topic_id is not None
        for index in topic.node.replicas
    ]
    loaded: list[zk_data.LoadedState] = []
    for start in range(0, len(wanted), STATES_PER_RUN):
        loaded += await states_of(zookeeper, wanted[start : start + STATES_PER_RUN])
    return loaded


async def states_of(
    zookeeper: ZooKeeper, wanted: Sequence[tuple[str, zk_data.TopicNode, int]]
) -> list[zk_data.LoadedState]:
    """The states of these partitions, each with the name and the node of its topic."""
    found = await zookeeper.get_many(
        [paths.partition_state(name, index) for name, _, index in wanted]
    )
    loaded = []
    for (name, topic, index), node in zip(wanted, found, strict=True):
        if node is None:
            continue
        data, stat = node
        state = readable(zk_data.decode_partition_state, name, index, topic, data, stat.version)
        if state is not None:
            loaded.append(
                zk_data.LoadedState(state=state, created_zxid=stat.czxid, modified_zxid=stat.mzxid)
            )
    return loaded


async def topic_configs(zookeeper: ZooKeeper, names: Sequence[str]) -> Mapping[str, dict[str, str]]:
    """The config of each topic, empty where it has none."""
    nodes = await zookeeper.get_many([paths.topic_config(name) for name in names])
    return {
        name: (node and readable(zk_data.decode_config, paths.topic_config(name), node[0])) or {}
        for name, node in zip(names, nodes, strict=True)
    }


async def broker_configs(
    zookeeper: ZooKeeper, broker_id: int, known: Mapping[str, dict[str, str]]
) -> dict[str, dict[str, str]]:
    """The config of a broker and the default; of one that cannot be read, that in `known`."""
    configs = {}
    for name in (str(broker_id), DEFAULT_NAME):
        path = paths.broker_config(name)
        node = await zookeeper.get(path)
        config = readable(zk_data.decode_config, path, node[0]) if node else {}
        configs[name] = known.get(name, {}) if config is None else config
    return configs


async def numbered(zookeeper: ZooKeeper, parent: str, watch: Watch | None = None) -> dict[int, str]:
    """The sequential children of a node, number → path, in order of their numbers."""
    found = {}
    for name in await zookeeper.children(parent, watch):
        number = paths.sequence_number(name)
        if number is not None:
            found[number] = f"{parent}/{name}"
    return dict(sorted(found.items()))


async def applied(zookeeper: ZooKeeper, broker_id: int, watch: Watch) -> int:
    """The entry of the change feed that a broker has acknowledged; -1 without one."""
    path = paths.applied(broker_id)
    node = await zookeeper.get(path, watch)
    if node is None:
        await zookeeper.exists(path, watch)
    return int(node[0]) if node is not None and node[0].isdigit() else -1
