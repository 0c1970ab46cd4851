"""Removes nodes that nobody needs any more.

- Of a deleted topic: the leaves first; its node, config and marker together and last.
- Entries of the change feed once every live broker has applied them, and all notifications after
  AGE_MS_MAX: a broker that slept longer reloads everything. The newest entry stays, since the next
  controller continues its number.
"""

from collections.abc import Awaitable, Callable, Sequence

from brokerd.cluster.zookeeper import bulk_reads, paths
from brokerd.cluster.zookeeper.multi_operations import Delete, Operation
from brokerd.cluster.zookeeper.zookeeper_client import MultiError, ZooKeeper

DELETES_PER_MULTI = 500
AGE_MS_MAX = 15 * 60_000

Fenced = Callable[[Sequence[Operation]], Awaitable[None]]
"""Writes a multi under the controller's fence. Raises MultiError."""


async def remove_topic(
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


async def purge_applied(zookeeper: ZooKeeper, applied: int) -> None:
    entries = await bulk_reads.numbered(zookeeper, paths.CHANGES)
    newest = max(entries, default=-1)
    for number, path in entries.items():
        if number <= applied and number != newest:
            await zookeeper.delete(path)


async def purge_old(zookeeper: ZooKeeper, now_ms: int) -> None:
    entries = await bulk_reads.numbered(zookeeper, paths.CHANGES)
    entries.pop(max(entries, default=-1), None)
    config_changes = await bulk_reads.numbered(zookeeper, paths.CONFIG_CHANGES)
    candidates = [*entries.values(), *config_changes.values()]
    nodes = await zookeeper.get_many(candidates)
    for path, node in zip(candidates, nodes, strict=True):
        if node is not None and now_ms - node[1].ctime > AGE_MS_MAX:
            await zookeeper.delete(path)
