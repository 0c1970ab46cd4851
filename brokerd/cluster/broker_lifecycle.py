"""A broker's membership of the cluster: registration, metadata image, controller, administration.

The membership task joins (new session: register, load) or comes back (same session: set the watches
again), then serves what watches flag. The election task tries to become controller whenever there
is none. While this broker is controller a third task runs the KafkaController. Losing the
connection stops neither the broker nor the image: all tasks wait for it to return.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection
from typing import TypeVar

from brokerd.clock import SystemClock
from brokerd.cluster.admin.config_admin import ConfigAdmin
from brokerd.cluster.admin.producer_id_manager import claim_block
from brokerd.cluster.admin.topic_admin import TopicAdmin
from brokerd.cluster.cluster_settings import ClusterSettings
from brokerd.cluster.cluster_state_wait import ClusterStateWait
from brokerd.cluster.controller.controller_election import ControllerEpoch, find_or_elect
from brokerd.cluster.controller.kafka_controller import KafkaController
from brokerd.cluster.membership import broker_id_znode
from brokerd.cluster.membership.broker_id_znode import ClusterError, Registration
from brokerd.cluster.membership.loop_watchdog import Watchdog
from brokerd.cluster.membership.metadata_loader import MetadataLoader
from brokerd.cluster.membership.new_partition_wait import NewPartitionWait
from brokerd.cluster.membership.startup_epoch_wait import OWN_TIMEOUT_S, TIMEOUT_S
from brokerd.cluster.metadata_image import NO_CONTROLLER, ImageDelta, MetadataImage
from brokerd.cluster.zookeeper import default_acls, offline_replicas, paths, saved_session
from brokerd.cluster.zookeeper.zookeeper_client import DISCONNECTED, NOT_LET_IN, ZooKeeper
from brokerd.errors import ErrorCode, KafkaError
from brokerd.topic_partition import TopicPartition

logger = logging.getLogger(__name__)

T = TypeVar("T")
RETRY_S = 1.0
RECONNECT_S = 0.05
_now_ms = SystemClock().now_ms
EVERYTHING = frozenset(
    ("brokers", "changes", "configs", "offline-replicas", "own-offline-replicas", "registration")
)


class BrokerLifecycle:
    """All methods run on the event loop. `on_change` is awaited with each change of the image, one
    after another, before it is acknowledged to the controller. `on_fatal` is called once when
    another live broker has our id: the process must end."""

    connects = disconnects = expires = 0
    """Of the ZooKeeper session, since the start."""

    def __init__(
        self,
        settings: ClusterSettings,
        loop: asyncio.AbstractEventLoop,
        on_change: Callable[[ImageDelta], Awaitable[None]],
        on_fatal: Callable[[Exception], None],
    ) -> None:
        self.image = MetadataImage()
        self.image.cluster_id = settings.cluster_id
        self._settings = settings
        self._on_change = on_change
        self._on_fatal = on_fatal
        self._state_wait = ClusterStateWait()
        self._connected = asyncio.Event()
        self._wake = asyncio.Event()
        self._due: set[str] = set()
        self._election_due = asyncio.Event()
        self._unreported: list[ImageDelta] = []  # made by _find_controller
        self._joined_session = 0
        self.disconnected_since_ms: int | None = None
        """Since when ZooKeeper does not answer; None while it does."""
        self._offline: frozenset[TopicPartition] = frozenset()
        self._offline_reported: frozenset[TopicPartition] = frozenset()
        self._controller_epoch: ControllerEpoch | None = None
        self._service: KafkaController | None = None
        self._tasks: dict[str, asyncio.Task[None]] = {}
        listeners = (self._on_connected, self._on_suspended, self._on_lost)
        zookeeper = self._zookeeper = ZooKeeper(
            settings.zookeeper_connect, settings.session_timeout_ms, loop, *listeners,
            settings.credentials, *([default_acls.default_acls] if settings.set_acl else []),
        )  # fmt: skip
        self._watchdog = Watchdog(
            loop, lambda: zookeeper.session_timeout_ms / 2000, zookeeper.give_session_up
        )
        self._loader = MetadataLoader(
            zookeeper, settings.broker_id, self.image, self._changed, self._flag,
            was_cleanly_stopped=settings.stopped_cleanly,
        )  # fmt: skip
        self.registration = Registration(zookeeper, settings, self._flag)
        self.topics = TopicAdmin(
            zookeeper, settings, self.image, self._state_wait, lambda: self._service
        )
        self.new_partition_wait = NewPartitionWait(zookeeper, self.image)
        self.configs = ConfigAdmin(zookeeper, self._state_wait, lambda: self._loader.config_number)

    @property
    def is_controller(self) -> bool:
        return self._service is not None

    def require_controller(self) -> None:
        """Raises KafkaError(NOT_CONTROLLER) on every other broker."""
        if not self.is_controller:
            raise KafkaError(ErrorCode.NOT_CONTROLLER, "This is not the controller of the cluster.")

    # -- life ----------------------------------------------------------------------------------

    async def connect(self) -> None:
        """Opens the session. Raises ClusterError with a message for users. The log directory with
        `session_file` must be locked by this process."""
        settings = self._settings
        connect, timeout_ms = settings.zookeeper_connect, settings.connect_timeout_ms
        logger.info("connecting to ZooKeeper at %s, for up to %d ms", connect, timeout_ms)
        await asyncio.to_thread(
            saved_session.end_saved, settings.session_file, connect, settings.session_timeout_ms,
            settings.credentials,
        )  # fmt: skip
        self._zookeeper.start()
        self._watchdog.start()
        await self._starting(self._connected.wait)

    async def start(self) -> None:
        """Registers, loads the image, begins elections. Raises ClusterError."""
        await self._starting(self._join)
        self._tasks["membership"] = asyncio.ensure_future(self._membership())
        self._tasks["election"] = asyncio.ensure_future(self._election())

    async def _starting(self, part: Callable[[], Awaitable[T]]) -> T:
        """Runs a part of the start once there is a connection; stops everything if it fails."""
        settings = self._settings
        try:
            async with asyncio.timeout(settings.connect_timeout_ms / 1000):
                await self._connected.wait()
            return await part()
        except TimeoutError:
            reason = await self._zookeeper.why_unreachable()
            await self.stop()
            raise ClusterError(
                f"no ZooKeeper answers at {settings.zookeeper_connect} within "
                f"{settings.connect_timeout_ms} ms{reason}: start it, or mend zookeeper.connect"
            ) from None
        except DISCONNECTED as error:
            await self.stop()
            raise ClusterError(f"ZooKeeper went away during the start: {error!r}") from error
        except NOT_LET_IN as error:
            await self.stop()
            raise ClusterError(
                f"ZooKeeper at {settings.zookeeper_connect} wants credentials, or others: name a "
                "JAAS file of its brokers in brokerd.zookeeper.jaas.file"
            ) from error
        except BaseException:
            await self.stop()
            raise

    async def wait_for_startup_epochs(self) -> None:
        """Waits until the controller has written new leader epochs for the partitions of this
        broker, so that clients do not get the old ones, but not for ever (`startup_epoch_wait`)."""
        timeout_s = OWN_TIMEOUT_S if self.is_controller else TIMEOUT_S
        given_up = await self._loader.startup_wait.wait(timeout_s)
        if given_up:
            logger.warning(
                "the controller has not written the states of %d partitions of this broker yet: "
                "clients get the old leader epochs",
                given_up,
            )

    async def stop(self) -> None:
        """Ends the session: the registration (and controllership) goes at once."""
        self._service = None
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._watchdog.stop()
        was_connected = self._connected.is_set()
        await self._zookeeper.stop()
        if was_connected:
            saved_session.forget(self._settings.session_file)

    def _on_connected(self, session_id: int) -> None:
        if self.disconnected_since_ms is not None:
            away_s = (_now_ms() - self.disconnected_since_ms) / 1000
            logger.warning("ZooKeeper answers again after %.1f s", away_s)
        self.disconnected_since_ms = None
        self.connects += 1
        self._connected.set()
        self._due |= EVERYTHING
        self._wake.set()
        self._election_due.set()
        if self._service is not None and session_id == self._joined_session:
            self._service.reconnected()

    def _on_suspended(self) -> None:
        self._connected.clear()
        if self.disconnected_since_ms is None:
            self.disconnects += 1
            self.disconnected_since_ms = _now_ms()
            logger.warning("ZooKeeper does not answer; this broker goes on with what it leads")

    def _on_lost(self) -> None:
        self._on_suspended()
        self.expires += 1
        logger.warning("the ZooKeeper session has ended: this broker must register again")
        self._resign()

    # -- membership ----------------------------------------------------------------------------

    def _flag(self, what: str) -> None:
        self._due.add(what)
        self._wake.set()

    async def _changed(self, delta: ImageDelta) -> None:
        try:
            await self._on_change(delta)
        finally:
            self._state_wait.notify()

    async def _membership(self) -> None:
        while True:
            try:
                await self._connected.wait()
                if self._zookeeper.session[0] != self._joined_session:
                    await self._join()
                await self._wake.wait()
                self._wake.clear()
                due, self._due = self._due, set()
                await self._serve(due)
            except DISCONNECTED:
                self._due |= EVERYTHING
                self._wake.set()
                await asyncio.sleep(RECONNECT_S)
            except ClusterError as error:
                logger.critical("%s", error)
                self._on_fatal(error)
                return
            except Exception:
                logger.exception("following the cluster failed, joining it again")
                self._joined_session = 0
                await asyncio.sleep(RETRY_S)

    async def _join(self) -> None:
        """A new session: register, load everything, find or become the controller."""
        session = self._zookeeper.session
        await self._zookeeper.make_chroot()
        if self._settings.set_acl:
            await default_acls.close_what_is_open(self._zookeeper)
        for path in paths.PERSISTENT:
            await self._zookeeper.ensure(path)
        self.image.cluster_id = await broker_id_znode.cluster_id(
            self._zookeeper, self.image.cluster_id
        )
        saved_session.save(self._settings.session_file, saved_session.SavedSession(*session))
        await self._loader.read_broker_configs()  # with the endpoints to register
        await self.registration.make(_now_ms())
        logger.info(
            "broker %d is registered, session 0x%x, timeout %d ms",
            self._settings.broker_id, session[0], self._zookeeper.session_timeout_ms,
        )  # fmt: skip
        self._offline_reported = frozenset()
        await self._loader.read_brokers()
        await self._loader.read_offline_replicas()
        await self._loader.load()
        await self._find_controller()
        await self._report_deltas()
        self._joined_session = session[0]
        self._due |= {"changes", "own-offline-replicas"}
        self._wake.set()

    async def _serve(self, due: set[str]) -> None:
        await self._report_deltas()
        if "brokers" in due:
            await self._loader.read_brokers()
            if self._settings.broker_id not in self.image.brokers:
                logger.warning("the registration of this broker was removed: registering again")
                self._joined_session = 0
                self._due |= EVERYTHING
                self._wake.set()
                return
        if "registration" in due:
            await self.registration.update(_now_ms())
        if "own-offline-replicas" in due:
            await self._report_offline()
        if "offline-replicas" in due:
            await self._loader.read_offline_replicas()
        if "changes" in due:
            await self._loader.apply_changes()
        if "configs" in due:
            await self._loader.read_configs()
            self._state_wait.notify()

    # -- replicas that cannot be served --------------------------------------------------------

    def report_offline(self, replicas: Collection[TopicPartition]) -> None:
        """Notifies the controller that this broker can serve its replicas except these."""
        self._offline = frozenset(replicas)
        if self._offline != self._offline_reported:
            self._flag("own-offline-replicas")

    async def _report_offline(self) -> None:
        replicas = self._offline
        if replicas != self._offline_reported:
            await offline_replicas.report(self._zookeeper, self._settings.broker_id, replicas)
            self._offline_reported = replicas

    # -- controller ----------------------------------------------------------------------------

    async def _election(self) -> None:
        while True:
            try:
                await self._connected.wait()
                await self._election_due.wait()
                self._election_due.clear()
                if self._zookeeper.session[0] == self._joined_session:  # else `_join` elects
                    await self._find_controller()
            except DISCONNECTED:
                self._election_due.set()
                await asyncio.sleep(RECONNECT_S)
            except Exception:
                logger.exception("the election of a controller failed, it begins anew")
                self._election_due.set()
                await asyncio.sleep(RETRY_S)

    async def _find_controller(self) -> None:
        """Finds the controller or becomes it. The membership task, and no other, reports to
        `on_change` what that changes in the image."""
        # A controller that is gone is most often a broker that is gone. The next controller must
        # know that before it places a topic, or partitions would be given to that broker.
        deltas = [await self._loader.take_brokers()]
        found = await find_or_elect(
            self._zookeeper, self._settings.broker_id, _now_ms(), self._election_due.set
        )
        if found.own_epoch != self._controller_epoch:
            self._resign()
        if found.own_epoch is not None and self._service is None:
            self._controller_epoch = found.own_epoch
            settings = self._settings
            self._service = KafkaController(
                self._zookeeper, found.own_epoch, self._state_wait.notify, settings.delete_topics,
                cleanly_stopped=(settings.broker_id,) if settings.stopped_cleanly else (),
            )  # fmt: skip
            self._tasks["controller"] = asyncio.ensure_future(self._run_controller(self._service))
        deltas.append(self.image.replace_controller(found.broker_id, found.epoch))
        self._unreported += [delta for delta in deltas if not delta.is_empty]
        self._wake.set()

    async def _report_deltas(self) -> None:
        while self._unreported:
            await self._changed(self._unreported.pop(0))

    def _resign(self) -> None:
        task = self._tasks.pop("controller", None)
        if task is not None:
            task.cancel()
        self._service = None
        self._controller_epoch = None
        if self.image.controller_id == self._settings.broker_id:
            self.image.replace_controller(NO_CONTROLLER, self.image.controller_epoch)

    async def _run_controller(self, service: KafkaController) -> None:
        """Runs the controller service until it is cancelled or another controller is elected."""
        while True:
            try:
                await self._connected.wait()
                await service.run()
                break
            except DISCONNECTED:
                await asyncio.sleep(RECONNECT_S)
            except Exception:
                logger.exception("the controller failed, it begins anew")
                await asyncio.sleep(RETRY_S)
        if self._service is service:
            self._service = None
            self._controller_epoch = None
        self._election_due.set()

    async def next_producer_id_block(self) -> tuple[int, int]:
        block = await claim_block(self._zookeeper, self._settings.broker_id)
        return block.first, block.last
