"""Deletes the znodes of a deleted topic (Kafka's TopicDeletionManager.completeDeleteTopic):
the leaves first; its node, config and marker (`/admin/delete_topics/<topic>`) together and last.
`KafkaController` calls it once all replicas are gone (`topic_deletion_manager`).
"""

from collections.abc import Awaitable, Callable, Sequence

from brokerd.cluster.zookeeper import paths
from brokerd.cluster.zookeeper.multi_operations import Delete, Operation
from brokerd.cluster.zookeeper.zookeeper_client import MultiError, ZooKeeper

DELETES_PER_MULTI = 500

Fenced = Callable[[Sequence[Operation]], Awaitable[None]]
"""Writes a multi under the controller's fence. Raises MultiError."""


async def complete_delete_topic(
    zookeeper: ZooKeeper, fenced: Fenced, name: str, known: Sequence[int]
) -> None:
    """Removes the nodes of a topic whose partitions in `known` have states. If other nodes exist (a
    topic that was created only in part), lists the nodes and removes those. Raises MultiError."""
    last = [paths.topic(name), paths.delete_topic(name), paths.topic_config(name)]
    expected: list[str] = []
    for index in known:
        expected += (paths.partition_state(name, index), paths.partition(name, index))
    if known:
        expected.append(paths.partitions(name))
    try:
        await _remove(fenced, [*expected, *last])
    except MultiError:
        if await zookeeper.exists(paths.topic_config(name)) is None:
            last.remove(paths.topic_config(name))
        await _remove(fenced, [*await _present_nodes(zookeeper, name), *last])


async def _present_nodes(zookeeper: ZooKeeper, topic: str) -> list[str]:
    """The existing nodes of a topic's partitions, leaves first."""
    root = paths.partitions(topic)
    if await zookeeper.exists(root) is None:
        return []
    found = []
    for index in await zookeeper.children(root):
        if await zookeeper.exists(f"{root}/{index}/state") is not None:
            found.append(f"{root}/{index}/state")
        found.append(f"{root}/{index}")
    return [*found, root]


async def _remove(fenced: Fenced, nodes: Sequence[str]) -> None:
    for start in range(0, len(nodes), DELETES_PER_MULTI):
        await fenced([Delete(path) for path in nodes[start : start + DELETES_PER_MULTI]])
