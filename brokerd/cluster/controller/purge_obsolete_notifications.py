"""Purges notifications that no broker needs any more (as Kafka's
ZkNodeChangeNotificationListener.purgeObsoleteNotifications): entries of the change feed once every
live broker has applied them, and all notifications after AGE_MS_MAX: a broker that slept longer
reloads everything. The newest entry stays, since the next controller continues its number.
"""

from brokerd.cluster.zookeeper import bulk_reads, paths
from brokerd.cluster.zookeeper.zookeeper_client import ZooKeeper

AGE_MS_MAX = 15 * 60_000


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
