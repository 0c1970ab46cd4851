"""Who may do what to a node in ZooKeeper, as Kafka's brokers say it with `zookeeper.set.acl`:
whoever made it may do everything, the world may read it. What is sensitive (settings of brokers and
users, delegation tokens) only its maker reads. `/consumers`, which Kafka leaves open for consumers
of long ago, is closed here: brokerd knows none of them.

Nodes that were made open, before `zookeeper.set.acl` was set, are closed by the first broker that
joins with it, which Kafka leaves to its tool zookeeper-security-migration. The root is closed last:
while it is open, something below it may be.
"""

import asyncio
import logging

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


def secure(path: str) -> Acl:
    """What a node of this path (below the chroot) is given by who sets ACLs."""
    owner: Acl = CREATOR_ALL_ACL
    return owner if path.startswith(_SENSITIVE) else [*CREATOR_ALL_ACL, *READ_ACL_UNSAFE]


async def close_what_is_open(zookeeper: ZooKeeper) -> None:
    """Gives every node of the cluster its ACL, where that was not done to the end before."""
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
    await zookeeper.set_acl("/", secure("/"))
    logger.info("only brokers write to ZooKeeper from now on: %d nodes were given ACLs", count + 1)


async def _close(zookeeper: ZooKeeper, path: str) -> None:
    try:
        await zookeeper.set_acl(path, secure(path))
    except NoNodeError:
        pass  # gone meanwhile
