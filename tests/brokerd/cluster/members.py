"""Several ClusterClients of one cluster in the test's own event loop, and a look at its ZooKeeper.

    async with Members(zookeeper, tmp_path) as members:
        first, second = await members.start(1, 2)
        await members.until(lambda: len(first.client.image.brokers) == 2)
        members.node("/brokers/ids/1")

A member is a broker's membership without its logs; `deltas` is what a broker would have been told.
"""

import asyncio
import json
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError

from brokerd.cluster.broker_lifecycle import BrokerLifecycle
from brokerd.cluster.cluster_settings import ClusterSettings
from brokerd.cluster.metadata_image import ImageDelta
from brokerd.cluster.zookeeper.zk_data import Endpoint
from tests.support.zookeeper import ZooKeeper

DEADLINE_S = 20.0


class Member:
    """One broker's BrokerLifecycle with what it told. While `may_apply` is not set, the member is
    one that is slow to make its logs."""

    def __init__(self, settings: ClusterSettings) -> None:
        self.settings = settings
        self.deltas: list[ImageDelta] = []
        self.fatal: list[Exception] = []
        self.may_apply = asyncio.Event()
        self.may_apply.set()
        self.client = BrokerLifecycle(
            settings, asyncio.get_running_loop(), self._changed, self.fatal.append
        )

    async def begin(self) -> None:
        await self.client.connect()
        await self.client.start()

    async def _changed(self, delta: ImageDelta) -> None:
        await self.may_apply.wait()
        self.deltas.append(delta)


class Members:
    """The members of one cluster in a chroot of its own; all are stopped at the end."""

    def __init__(self, zookeeper: ZooKeeper, directory: Path) -> None:
        self.connect = zookeeper.connect(f"/{uuid.uuid4().hex}")
        self._directory = directory
        self._started: list[Member] = []
        self.kazoo = KazooClient(hosts=self.connect, timeout=10)

    async def __aenter__(self) -> "Members":
        await asyncio.to_thread(self._look)
        return self

    def _look(self) -> None:
        bare = KazooClient(hosts=self.connect.partition("/")[0])
        bare.start()
        bare.ensure_path("/" + self.connect.partition("/")[2])
        bare.stop()
        bare.close()
        self.kazoo.start()

    async def __aexit__(self, *_: object) -> None:
        for member in self._started:
            await member.client.stop()
        await asyncio.to_thread(self.kazoo.stop)
        self.kazoo.close()

    def member(self, broker_id: int, **changes: Any) -> Member:
        """A member that is not started."""
        values: dict[str, Any] = {
            "broker_id": broker_id,
            "endpoints": (
                Endpoint(
                    listener="PLAINTEXT",
                    security_protocol="PLAINTEXT",
                    host="127.0.0.1",
                    port=9000 + broker_id,
                ),
            ),
            "zookeeper_connect": self.connect,
            "session_file": self._directory / f"session-{broker_id}",
            "session_timeout_ms": 6_000,
        }
        return Member(ClusterSettings(**(values | changes)))

    async def start(self, *broker_ids: int, **changes: Any) -> list[Member]:
        """Members that know of each other and of one controller."""
        members = [self.member(broker_id, **changes) for broker_id in broker_ids]
        for member in members:
            self._started.append(member)
            await member.begin()
        live = [m for m in self._started if m.client.image.brokers]
        await self.until(lambda: all(set(broker_ids) <= set(m.client.image.brokers) for m in live))
        return members

    async def stop(self, member: Member) -> None:
        self._started.remove(member)
        await member.client.stop()

    def controller(self) -> Member:
        (found,) = [m for m in self._started if m.client.is_controller]
        return found

    async def until(self, reached: Callable[[], bool]) -> None:
        """Lets the loop run until it is so; fails after DEADLINE_S."""
        async with asyncio.timeout(DEADLINE_S):
            while not reached():
                await asyncio.sleep(0.005)

    def node(self, path: str) -> Any:
        """A node's JSON, None where there is no such node."""
        try:
            data = self.kazoo.get(path)[0]
        except NoNodeError:
            return None
        return json.loads(data) if data else ""
