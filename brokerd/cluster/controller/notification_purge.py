"""Clearing away notifications that nobody needs any more, as the controller does now and then.

An entry of the change feed goes once every live broker has applied it, any notification after
AGE_MS_MAX: a broker that slept longer reloads everything. The newest entry stays for ever, it
carries the number from which the next controller counts on.
"""

from collections.abc import Sequence

from brokerd.cluster.zookeeper import bulk_reads, paths
from brokerd.cluster.zookeeper.zookeeper_client import ZooKeeper

AGE_MS_MAX = 15 * 60_000


async def purge_applied(zookeeper: ZooKeeper, applied: int) -> None:
    """Removes the entries up to number `applied`, but not the newest."""
    entries = await bulk_reads.numbered(zookeeper, paths.CHANGES)
    newest = max(entries, default=-1)
    for number, path in entries.items():
        if number <= applied and number != newest:
            await zookeeper.delete(path)


async def purge_old(zookeeper: ZooKeeper, now_ms: int) -> None:
    """Removes what is older than AGE_MS_MAX, but not the newest entry."""
    entries = await bulk_reads.numbered(zookeeper, paths.CHANGES)
    entries.pop(max(entries, default=-1), None)
    config_changes = await bulk_reads.numbered(zookeeper, paths.CONFIG_CHANGES)
    for path in await _old(zookeeper, [*entries.values(), *config_changes.values()], now_ms):
        await zookeeper.delete(path)


async def _old(zookeeper: ZooKeeper, candidates: Sequence[str], now_ms: int) -> list[str]:
    nodes = await zookeeper.get_many(candidates)
    return [
        path
        for path, node in zip(candidates, nodes, strict=True)
        if node is not None and now_ms - node[1].ctime > AGE_MS_MAX
    ]
