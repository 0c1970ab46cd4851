"""Replicas that their brokers cannot serve, most often because a log directory has failed.

    /brokerd/offline/<broker>-<n>   ephemeral   {"version": 1, "topics": {"<topic>": [0, 3], …}}

A broker writes them into as many nodes as necessary, then creates a `/log_dir_event_notification`
as Kafka does. The controller reads the nodes of all brokers, elects leaders, and removes the
notification (Kafka's asks the broker instead, by LeaderAndIsr).
"""

import json
import logging
from collections import defaultdict
from collections.abc import Collection, Iterable
from itertools import count

from brokerd.cluster.zookeeper import paths
from brokerd.cluster.zookeeper.zk_data import dump
from brokerd.cluster.zookeeper.zookeeper_client import Watch, ZooKeeper
from brokerd.topic_partition import TopicPartition

logger = logging.getLogger(__name__)

NODE_BYTES_MAX = 512 * 1024
_TOPIC_BYTES = 8
_INDEX_BYTES = 11


def encode(replicas: Collection[TopicPartition]) -> list[bytes]:
    topics: dict[str, list[int]] = {}
    nodes, size_bytes = [], 0
    for topic, index in sorted(replicas):
        upper_bytes = _INDEX_BYTES + (0 if topic in topics else len(topic) + _TOPIC_BYTES)
        if size_bytes + upper_bytes > NODE_BYTES_MAX:
            nodes.append(dump({"version": 1, "topics": topics}))
            topics, size_bytes = {}, 0
        topics.setdefault(topic, []).append(index)
        size_bytes += upper_bytes
    if topics:
        nodes.append(dump({"version": 1, "topics": topics}))
    return nodes


def decode(data: bytes) -> list[TopicPartition]:
    """Raises ValueError, KeyError, TypeError, AttributeError."""
    return [
        (topic, int(index))
        for topic, indices in json.loads(data)["topics"].items()
        for index in indices
    ]


async def report(
    zookeeper: ZooKeeper, broker_id: int, replicas: Collection[TopicPartition]
) -> None:
    """Replaces the nodes of the broker, and notifies the controller. New nodes are created before
    old ones are removed, so that at no time all replicas seem to be served."""
    old = [name for name in await zookeeper.children(paths.OFFLINE) if _broker(name) == broker_id]
    taken = {f"{paths.OFFLINE}/{name}" for name in old}
    places = (paths.offline(broker_id, number) for number in count())
    free = (path for path in places if path not in taken)
    for data, path in zip(encode(replicas), free, strict=False):
        await zookeeper.create(path, data, ephemeral=True)
    for path in taken:
        await zookeeper.delete(path)
    event = dump({"version": 1, "broker": broker_id, "event": 1})
    await zookeeper.create(paths.LOG_DIR_EVENT_PREFIX, event, sequence=True)


async def read(
    zookeeper: ZooKeeper, watch: Watch | None = None
) -> dict[int, frozenset[TopicPartition]]:
    """The offline replicas of every broker; `watch` is called when they change."""
    while True:
        listed = await zookeeper.children(paths.OFFLINE, watch)
        names = [name for name in listed if _broker(name) is not None]
        nodes = await zookeeper.get_many([f"{paths.OFFLINE}/{name}" for name in names])
        if None not in nodes:
            return _merged(names, [node[0] for node in nodes if node is not None])
        # Some were replaced after they were listed: list again.


def _broker(name: str) -> int | None:
    """The broker of a node; None if no broker created it."""
    head = name.partition("-")[0]
    return int(head) if head.isdigit() else None


def _merged(names: Iterable[str], nodes: Iterable[bytes]) -> dict[int, frozenset[TopicPartition]]:
    found: dict[int, set[TopicPartition]] = defaultdict(set)
    for name, data in zip(names, nodes, strict=True):
        try:
            found[int(name.partition("-")[0])].update(decode(data))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            logger.error("%s/%s is skipped: %r", paths.OFFLINE, name, error)
    return {broker_id: frozenset(replicas) for broker_id, replicas in found.items()}
