"""The settings of brokers and the levels of their loggers, with the project's own Kafka client.

Every call waits for the broker's response, at most three times READ_S, and raises GatewayError.
"""

from collections.abc import Callable, Mapping
from functools import partial

from brokerd.errors import KafkaError
from monitoring.clock import now_ms
from monitoring.clusters.kafka_client_settings import ClientSettings
from monitoring.gateway import event_loop, request_timeouts
from monitoring.gateway.error_codes import raise_if_error
from monitoring.gateway.errors import ClusterUnavailable, NotFound, Unreadable
from monitoring.gateway.topic_admin import ConfigValue
from monitoring.gateway.wire import broker_configs as wire_configs
from monitoring.gateway.wire.channel import Channel
from monitoring.gateway.wire.cluster_reader import ClusterReader
from monitoring.gateway.wire.connection import ByteBudget
from monitoring.reasons import Reason


class BrokerConfigs:
    """The settings and loggers of one broker, or (broker None) the dynamic settings of all."""

    def __init__(self, settings: ClientSettings) -> None:
        self._settings = settings

    def describe(self, broker_id: int | None) -> list[ConfigValue]:
        """The settings, sorted by name: all of one broker, or (None) those that are set for all
        brokers.

        Raises NotFound for a broker that is not up.
        """
        return self._describe(broker_id, wire_configs.BROKER)

    def describe_loggers(self, broker_id: int) -> list[ConfigValue]:
        """The loggers of a broker with their levels as values, sorted by name.

        Raises NotFound for a broker that is not up, Refused by one that has no loggers.
        """
        return self._describe(broker_id, wire_configs.BROKER_LOGGER)

    def alter(
        self,
        broker_id: int | None,
        configs: Mapping[str, str | None],
        *,
        validate_only: bool = False,
    ) -> None:
        """Set dynamic settings (None = remove); the others stay. Raises Refused."""
        self._alter(broker_id, wire_configs.BROKER, configs, validate_only)

    def alter_loggers(
        self, broker_id: int, levels: Mapping[str, str], *, validate_only: bool = False
    ) -> None:
        """Set the levels of loggers, until the broker restarts. Raises Refused."""
        self._alter(broker_id, wire_configs.BROKER_LOGGER, levels, validate_only)

    def _describe(self, broker_id: int | None, resource_type: int) -> list[ConfigValue]:
        request = partial(wire_configs.describe_request, resource_type, _resource_name(broker_id))
        answer = self._call(broker_id, request)
        try:
            error, text, values = wire_configs.decode_describe(answer)
        except (KafkaError, ValueError) as problem:
            raise Unreadable(Reason("does_not_parse", why=str(problem))) from problem
        raise_if_error(error, text)
        return values

    def _alter(
        self,
        broker_id: int | None,
        resource_type: int,
        configs: Mapping[str, str | None] | Mapping[str, str],
        validate_only: bool,
    ) -> None:
        request = partial(
            wire_configs.alter_request, resource_type, _resource_name(broker_id), dict(configs),
            validate_only,
        )  # fmt: skip
        answer = self._call(broker_id, request)
        try:
            error, text = wire_configs.decode_alter(answer)
        except (KafkaError, ValueError) as problem:
            raise Unreadable(Reason("does_not_parse", why=str(problem))) from problem
        raise_if_error(error, text)

    def _call(self, broker_id: int | None, request: Callable[[int], bytes]) -> bytes:
        try:
            return event_loop.run(self._send(broker_id, request), 3 * request_timeouts.READ_S)
        except TimeoutError as error:
            raise ClusterUnavailable(Reason("brokers_late")) from error

    async def _send(self, broker_id: int | None, request: Callable[[int], bytes]) -> bytes:
        """Send a request about a broker to that broker; one about all brokers to any."""
        reader = ClusterReader(self._settings, broker_stats=None, now_ms=now_ms)
        try:
            brokers = (await reader.read_metadata(request_timeouts.READ_S, topics=[])).brokers
        finally:
            await reader.close()
        found = [broker for broker in brokers if broker_id in (None, broker.id)]
        if not found:
            raise NotFound(Reason("no_such_broker", id=broker_id))
        channel = Channel(found[0].host, found[0].port, self._settings, ByteBudget())
        try:
            return await channel.request(request, request_timeouts.READ_S)
        finally:
            channel.close()


def _resource_name(broker_id: int | None) -> str:
    """Kafka's name of the resource; "" = the defaults of all brokers."""
    return "" if broker_id is None else str(broker_id)
