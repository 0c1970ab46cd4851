"""Removes the nodes of a deleted topic: the leaves first; its node, config and marker together and
last.
"""

from collections.abc import Awaitable, Callable, Sequence

from brokerd.cluster.zookeeper import bulk_reads, paths
from brokerd.cluster.zookeeper.operations import Delete, Operation, removal_of_partitions
from brokerd.cluster.zookeeper.zookeeper_client import MultiError, ZooKeeper

DELETES_PER_MULTI = 500

Fenced = Callable[[Sequence[Operation]], Awaitable[None]]
"""Writes a multi under the controller's fence. Raises MultiError."""


async def remove_topic(
    zookeeper: ZooKeeper, fenced: Fenced, name: str, known: Sequence[int]
) -> None:
    """Removes the nodes of a topic whose partitions in `known` have states. If other nodes exist (a
    topic that was created only in part), lists the nodes and removes those. Raises MultiError."""
    try:
        await _remove_nodes(fenced, name, removal_of_partitions(name, known), has_config=True)
    except MultiError:
        has_config = await zookeeper.exists(paths.topic_config(name)) is not None
        present = await bulk_reads.present_nodes(zookeeper, name)
        await _remove_nodes(fenced, name, present, has_config=has_config)


async def _remove_nodes(
    fenced: Fenced, name: str, operations: Sequence[Operation], *, has_config: bool
) -> None:
    last = [Delete(paths.topic(name)), Delete(paths.delete_topic(name))]
    if has_config:
        last.append(Delete(paths.topic_config(name)))
    everything = [*operations, *last]
    while len(everything) > DELETES_PER_MULTI:
        await fenced(everything[:DELETES_PER_MULTI])
        everything = everything[DELETES_PER_MULTI:]
    await fenced(everything)
