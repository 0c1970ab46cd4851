"""The ACLs of nodes in ZooKeeper with `zookeeper.set.acl`, as Kafka's brokers set them
(ZkData.defaultAcls): the creator may do everything, the world may read, but not sensitive nodes.

The first broker that joins with `zookeeper.set.acl` gives ACLs to the nodes created before; in
Kafka that takes the tool zookeeper-security-migration. The root is last: as long as it has no ACL,
nodes below it may have none.
"""

import asyncio
import logging
from contextlib import suppress

from kazoo.exceptions import NoNodeError
from kazoo.security import CREATOR_ALL_ACL, OPEN_ACL_UNSAFE, READ_ACL_UNSAFE

from brokerd.cluster.zookeeper.zookeeper_client import IN_FLIGHT_MAX, Acl, ZooKeeper

logger = logging.getLogger(__name__)

_SENSITIVE = ("/config/users", "/config/brokers", "/delegation_token/tokens")
_ROOTS = (
    "admin", "brokerd", "brokers", "cluster", "config", "consumers", "controller",
    "controller_epoch", "delegation_token", "feature", "isr_change_notification", "kafka-acl",
    "kafka-acl-changes", "kafka-acl-extended", "kafka-acl-extended-changes",
    "latest_producer_id_block", "log_dir_event_notification", "migration",
)  # fmt: skip
"""Without a chroot others may have their nodes beside Kafka's."""


def default_acls(path: str) -> Acl:
    """The ACL of a node with this path (below the chroot)."""
    owner: Acl = CREATOR_ALL_ACL
    return owner if path.startswith(_SENSITIVE) else [*CREATOR_ALL_ACL, *READ_ACL_UNSAFE]


async def close_what_is_open(zookeeper: ZooKeeper) -> None:
    """Gives every node of the cluster its ACL, unless that was completed before."""
    if list(await zookeeper.acl("/")) != OPEN_ACL_UNSAFE:
        return
    level = [f"/{name}" for name in await zookeeper.children("/") if name in _ROOTS]
    count = 0
    while level:
        count += len(level)
        below: list[str] = []
        for start in range(0, len(level), IN_FLIGHT_MAX):
            run = level[start : start + IN_FLIGHT_MAX]
            await asyncio.gather(*(_close(zookeeper, path) for path in run))
            for path, names in zip(
                run, await asyncio.gather(*map(zookeeper.children, run)), strict=True
            ):
                below += [f"{path}/{name}" for name in names]
        level = below
    await zookeeper.set_acl("/", default_acls("/"))
    logger.info("only brokers write to ZooKeeper from now on: %d nodes were given ACLs", count + 1)


async def _close(zookeeper: ZooKeeper, path: str) -> None:
    with suppress(NoNodeError):  # gone meanwhile
        await zookeeper.set_acl(path, default_acls(path))
