"""The settings of brokers and the levels of their loggers, with the project's own Kafka client.

Every call waits for the broker's response, at most three times READ_S, and raises GatewayError.
"""

from collections.abc import Mapping

from monitoring.clusters.kafka_client_settings import ClientSettings
from monitoring.gateway import config_requests
from monitoring.gateway.config_value import ConfigValue
from monitoring.gateway.wire import configs as wire_configs


class BrokerConfigs:
    """The settings and loggers of one broker, or (broker None) the dynamic settings of all."""

    def __init__(self, settings: ClientSettings) -> None:
        self._settings = settings

    def describe(self, broker_id: int | None) -> list[ConfigValue]:
        """The settings, sorted by name: all of one broker, or (None) those that are set for all
        brokers.

        Raises NotFound for a broker that is not up.
        """
        name = _resource_name(broker_id)
        return config_requests.describe(self._settings, broker_id, wire_configs.BROKER, name)

    def describe_loggers(self, broker_id: int) -> list[ConfigValue]:
        """The loggers of a broker with their levels as values, sorted by name.

        Raises NotFound for a broker that is not up, Refused by one that has no loggers.
        """
        return config_requests.describe(
            self._settings, broker_id, wire_configs.BROKER_LOGGER, str(broker_id)
        )

    def alter(
        self,
        broker_id: int | None,
        configs: Mapping[str, str | None],
        *,
        validate_only: bool = False,
    ) -> None:
        """Set dynamic settings (None = remove); the others stay. Raises Refused."""
        config_requests.alter(
            self._settings, broker_id, wire_configs.BROKER, _resource_name(broker_id), configs,
            validate_only=validate_only,
        )  # fmt: skip

    def alter_loggers(
        self, broker_id: int, levels: Mapping[str, str], *, validate_only: bool = False
    ) -> None:
        """Set the levels of loggers, until the broker restarts. Raises Refused."""
        config_requests.alter(
            self._settings, broker_id, wire_configs.BROKER_LOGGER, str(broker_id), levels,
            validate_only=validate_only,
        )  # fmt: skip


def _resource_name(broker_id: int | None) -> str:
    """Kafka's name of the resource; "" = the defaults of all brokers."""
    return "" if broker_id is None else str(broker_id)
