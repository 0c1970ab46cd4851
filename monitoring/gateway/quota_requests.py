"""Quotas of users, client ids and addresses, with the project's own Kafka client.

Every call waits for the response, at most `request_timeouts.CONTROLLER_S`, and raises GatewayError:
Unsupported if the cluster does not offer the request.
"""

from collections.abc import Mapping
from functools import partial

from monitoring.clusters.kafka_client_settings import ClientSettings
from monitoring.gateway import controller_requests, request_timeouts
from monitoring.gateway.error_codes import raise_if_error
from monitoring.gateway.wire import quotas as wire
from monitoring.gateway.wire.channel import Channel
from monitoring.gateway.wire.quotas import Entity, Quota


class Quotas:
    """The client quotas of one cluster."""

    def __init__(self, settings: ClientSettings) -> None:
        self._settings = settings

    def describe(self) -> list[Quota]:
        """All quotas, sorted by entity."""

        async def ask(channel: Channel) -> list[Quota]:
            answer = await channel.request(wire.describe_request, request_timeouts.CHANGE_S)
            code, text, found = wire.decode_describe(answer)
            raise_if_error(code, text)
            return sorted(found, key=_order)

        return controller_requests.run(
            controller_requests.on_controller(self._settings, ask, wire.NAMES)
        )

    def alter(
        self, entity: Entity, values: Mapping[str, float | None], *, validate_only: bool = False
    ) -> None:
        """Set quotas (None = remove); the others stay. Raises Refused."""

        async def ask(channel: Channel) -> None:
            request = partial(wire.alter_request, entity, dict(values), validate_only)
            answer = await channel.request(request, request_timeouts.CHANGE_S)
            raise_if_error(*wire.decode_alter(answer))

        controller_requests.run(controller_requests.on_controller(self._settings, ask, wire.NAMES))


def _order(quota: Quota) -> list[tuple[str, str]]:
    return [(kind, name or "") for kind, name in quota.entity]
