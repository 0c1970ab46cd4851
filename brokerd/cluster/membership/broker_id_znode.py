"""Writes a broker's znode `/brokers/ids/<id>`, its registration; reads or makes `/cluster/id`. When
it is to be written (start, a new session) `BrokerLifecycle` says.

The registration is ephemeral. A node of another session is never deleted: it is waited for, since a
dead owner's session ends by itself; an owner that outlives the wait is alive, and two brokers with
one id would be two leaders for each of its partitions.
"""

import asyncio
import logging
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from kazoo.exceptions import BadVersionError, NodeExistsError, NoNodeError

from brokerd.cluster.cluster_settings import ClusterSettings
from brokerd.cluster.zookeeper import paths, zk_data
from brokerd.cluster.zookeeper.zk_data import Endpoint
from brokerd.cluster.zookeeper.zookeeper_client import ZooKeeper

logger = logging.getLogger(__name__)

WAIT_MARGIN_S = 2.0


class ClusterError(Exception):
    """This broker cannot be a member of the cluster; the message says why and what to do."""


async def cluster_id(zookeeper: ZooKeeper, known: str) -> str:
    """The id of the cluster; the first broker draws it. ClusterError unless as `known`."""
    node = await zookeeper.get(paths.CLUSTER_ID)
    if node is None:
        drawn = urlsafe_b64encode(secrets.token_bytes(16)).rstrip(b"=").decode()
        await zookeeper.ensure("/cluster")
        with suppress(NodeExistsError):
            await zookeeper.create(paths.CLUSTER_ID, zk_data.encode_cluster_id(drawn))
        node = await zookeeper.get(paths.CLUSTER_ID)
    assert node is not None, "/cluster/id is never deleted"
    found = zk_data.decode_cluster_id(node[0])
    if known and found != known:
        raise ClusterError(
            f"zookeeper.connect leads to the cluster {found}, but this broker's data belong to the "
            f"cluster {known}: mend zookeeper.connect or log.dirs"
        )
    return found


@dataclass(slots=True)
class Registration:
    """The registration of this broker. `_on_due("registration")` asks for a call of `update`."""

    _zookeeper: ZooKeeper
    _settings: ClusterSettings
    _on_due: Callable[[str], None]
    _advertised: tuple[Endpoint, ...] = ()

    def advertise(self, endpoints: tuple[Endpoint, ...]) -> None:
        self._settings = replace(self._settings, endpoints=endpoints)
        if endpoints != self._advertised:
            self._on_due("registration")

    async def make(self, now_ms: int) -> None:
        """Creates the registration of the current session. Raises ClusterError if another live
        broker has the id."""
        settings, zookeeper = self._settings, self._zookeeper
        path = paths.broker(settings.broker_id)
        data = zk_data.encode_broker(settings.endpoints, settings.rack, now_ms)
        loop = asyncio.get_running_loop()
        deadline_s = loop.time() + zookeeper.session_timeout_ms / 1000 + WAIT_MARGIN_S
        is_logged = False
        while True:
            with suppress(NodeExistsError):
                await zookeeper.create(path, data, ephemeral=True)
            changed = asyncio.Event()
            stat = await zookeeper.exists(path, changed.set)
            if stat is None:
                continue
            if stat.ephemeralOwner == zookeeper.session[0]:
                self._advertised = settings.endpoints
                return
            if loop.time() >= deadline_s:
                raise ClusterError(await _owned_by_another(zookeeper, settings.broker_id))
            if not is_logged:
                is_logged = True
                logger.warning(
                    "broker id %d is registered by another session (0x%x): waiting up to %.0f s "
                    "for it to end",
                    settings.broker_id, stat.ephemeralOwner, deadline_s - loop.time(),
                )  # fmt: skip
            with suppress(TimeoutError):
                async with asyncio.timeout_at(deadline_s):
                    await changed.wait()

    async def update(self, now_ms: int) -> None:
        """Write the registration again if its endpoints differ. If it is gone, or belongs to
        another session, do nothing: this broker is about to register again."""
        settings, path = self._settings, paths.broker(self._settings.broker_id)
        if settings.endpoints == self._advertised:
            return
        stat = await self._zookeeper.exists(path)
        if stat is None or stat.ephemeralOwner != self._zookeeper.session[0]:
            return
        data = zk_data.encode_broker(settings.endpoints, settings.rack, now_ms)
        try:
            await self._zookeeper.set(path, data, stat.version)
        except (NoNodeError, BadVersionError) as error:
            logger.warning("the registration of this broker changed meanwhile: %r", error)
            return
        self._advertised = settings.endpoints
        addresses = ", ".join(
            f"{each.listener}://{each.host}:{each.port}" for each in self._advertised
        )
        logger.info("advertised listeners are now: %s", addresses)


async def _owned_by_another(zookeeper: ZooKeeper, broker_id: int) -> str:
    node = await zookeeper.get(paths.broker(broker_id))
    owner = "another broker"
    if node is not None:
        info = zk_data.decode_broker(broker_id, node[0], node[1].czxid)
        places = ", ".join(f"{name}://{h}:{p}" for name, (h, p) in info.endpoints.items())
        owner = f"the live broker at {places} (session 0x{node[1].ephemeralOwner:x})"
    return (
        f"broker.id {broker_id} is taken by {owner}. Stop that broker or give this one a broker.id "
        "of its own"
    )
