"""Applies changes of a broker's settings while it runs (Kafka's BrokerConfigHandler). `now` has the
source of each setting, `config` the current values; parts that keep a copy are notified
(`on_change`).
"""

import logging
from collections.abc import Callable, Collection, Mapping

from brokerd.cluster.metadata_image import MetadataImage
from brokerd.cluster.zookeeper.zk_data import Endpoint
from brokerd.config.broker_config import BrokerConfig
from brokerd.config.dynamic_broker_config import DEFAULT_NAME, DynamicBrokerConfig, is_of_listeners
from brokerd.config.dynamic_listener_config import with_listener_of
from brokerd.config.ssl_configs import SslConfigs, tls_key_of_listener
from brokerd.errors import ErrorCode, KafkaError
from brokerd.security.ssl_engine_factory import StoreError, StoreGoneError, TlsError
from brokerd.server.network.listener_sockets import BindError
from brokerd.server.network.socket_server import SocketServer

logger = logging.getLogger(__name__)


class BrokerConfigHandler:
    """See the module. `static` are the settings of the properties file."""

    def __init__(
        self,
        static: BrokerConfig,
        socket_server: SocketServer,
        on_change: Callable[[BrokerConfig], None],
    ) -> None:
        self.now = DynamicBrokerConfig(static=static)
        self.config = static
        self._socket_server = socket_server
        self._on_change = on_change
        self._not_open: BindError | TlsError | None = None
        self._left_out: list[str] = []

    async def try_listeners(self) -> None:
        """Opens the listeners of the file, so that their ports are taken while the logs are loaded.
        One that cannot be opened may have other settings in ZooKeeper."""
        try:
            await self._socket_server.open(self.now.static)
        except BindError as error:
            logger.warning("%s; it is tried again when the settings in ZooKeeper are known", error)

    def require_listeners(self) -> None:
        """Raises BindError or TlsError if a listener of the file could not be opened."""
        if self._not_open is not None:
            raise self._not_open

    async def take_over(self, configs: Mapping[str, Mapping[str, str]]) -> bool:
        """Applies the dynamic configs of this broker and of all brokers, by their names in
        ZooKeeper; returns whether a value changed. Invalid values, and listeners that cannot be
        opened, are logged and skipped; `require_listeners` is for those of the file."""
        self.now = DynamicBrokerConfig(
            static=self.now.static,
            defaults=configs.get(DEFAULT_NAME, {}),
            own=configs.get(str(self.now.static.broker_id), {}),
        )
        config, problems = self.now.effective()
        for problem in problems:
            logger.error("a dynamic setting is passed over: %s", problem)
        self._log_left_out()
        config = await self._open(config)
        if config == self.config:
            return False
        changed = sorted({*self.now.defaults, *self.now.own})
        logger.info("settings now differ from the file in: %s", ", ".join(changed))
        self.config = config
        self._on_change(config)
        return True

    async def _open(self, config: BrokerConfig) -> BrokerConfig:
        """Opens the listeners that can be opened. A listener of the file that cannot be opened
        keeps the broker from starting; one that was added later stays as it is, or closed."""
        static = self.now.static
        of_file = {"", *(each.name for each in static.listeners)}
        failed: set[str] = set()
        while True:
            try:
                config = await self._socket_server.open(config)
                self._not_open = None
                return config
            except (BindError, TlsError) as error:
                name = error.listener
                if name in of_file:
                    self._not_open = error
                    logger.error("the listeners and their stores stay as they are: %s", error)
                    return config.with_listeners_of(self.config)
                config = with_listener_of(config, static if name in failed else self.config, name)
                failed.add(name)
                self._log_not_open(error)

    def _log_not_open(self, error: Exception) -> None:
        static = self.now.static
        at = self.config.advertised_listeners[static.inter_broker_listener_name]
        logger.error(
            "%s. This listener was set while the broker ran, and is tried again with the next"
            " change of its settings. Make it possible, or have those of the file: brokerd configs"
            " --bootstrap-server %s:%d --alter --entity-type brokers --entity-name %d"
            " --delete-config %s",
            error, at.host, at.port, static.broker_id,
            ",".join(sorted(filter(is_of_listeners, self.now.own))),
        )  # fmt: skip

    def _log_left_out(self) -> None:
        names = self.now.left_out()
        if names != self._left_out and names:
            logger.warning(
                "dynamic settings without effect: %s: this broker reads what it knows of them from"
                " its properties file when it starts", ", ".join(names),
            )  # fmt: skip
        self._left_out = names

    async def check_listeners(
        self, config: BrokerConfig, named: Collection[str] | None, image: MetadataImage
    ) -> None:
        """Checks that listeners that would change can be opened: addresses and stores. `named` are
        the settings wanted for this broker, None for all brokers. Raises KafkaError:
        INVALID_REQUEST, or INVALID_CONFIG for a store of a listener that stays."""
        config = self._without_those_away(config)
        self._check_endpoints(config, image)
        try:
            await self._socket_server.listeners.check(config)
        except BindError as error:
            raise KafkaError(ErrorCode.INVALID_REQUEST, str(error)) from error
        of_file = {each.name for each in self.now.static.listeners}
        for name, wanted in config.tls.items():
            if wanted != self.config.tls.get(name):
                await self._check_store(wanted, ErrorCode.INVALID_REQUEST)
            elif named is not None:
                is_named = any(tls_key_of_listener(each)[0] == name for each in named)
                if is_named or name in of_file:
                    code = ErrorCode.INVALID_CONFIG
                    await self._check_store(wanted, code, may_be_gone=not is_named)

    def _without_those_away(self, config: BrokerConfig) -> BrokerConfig:
        """Without listeners that stay as they were and could not be opened."""
        held = self.now.effective()[0]
        before = {each.name: each for each in held.listeners}
        opened = {each.name for each in self.config.listeners}
        for each in config.listeners:
            name = each.name
            is_same = before.get(name) == each and held.tls.get(name) == config.tls.get(name)
            if is_same and name not in opened:
                config = with_listener_of(config, self.config, name)
        return config

    def _check_endpoints(self, config: BrokerConfig, image: MetadataImage) -> None:
        """Refuses an address that another broker advertises (KafkaServer.createBrokerInfo)."""
        now = {(each.host, each.port) for each in self.config.advertised_listeners.values()}
        for each in config.advertised_listeners.values():
            place = each.host, each.port
            if place in now:
                continue
            for other in image.brokers.values():
                if other.id != config.broker_id and place in other.endpoints.values():
                    raise KafkaError(
                        ErrorCode.INVALID_REQUEST,
                        f"advertised.listeners: {each} is already registered by broker {other.id}",
                    )

    async def _check_store(
        self, wanted: SslConfigs, code: ErrorCode, *, may_be_gone: bool = False
    ) -> None:
        """As in Kafka, each change for this broker opens the file again. The answer does not reveal
        what is at a path."""
        try:
            await self._socket_server.listeners.check_store(wanted)
        except StoreError as error:
            if may_be_gone and isinstance(error, StoreGoneError):
                return
            logger.warning("a change of listeners was refused: %s", error)
            message = f"{error.setting}: the store could not be loaded; the broker's log says why"
            raise KafkaError(code, message) from error
        except TlsError as error:
            raise KafkaError(code, str(error)) from error


def endpoints(config: BrokerConfig) -> tuple[Endpoint, ...]:
    """The advertised listeners, for the registration and Metadata."""
    return tuple(
        Endpoint(
            listener=each.name, security_protocol=each.protocol, host=each.host, port=each.port
        )
        for each in config.advertised_listeners.values()
    )
