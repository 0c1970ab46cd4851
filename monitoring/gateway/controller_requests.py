"""Requests to the controller of a cluster, with the project's own Kafka client."""

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import closing
from typing import Any, TypeVar

from brokerd.errors import KafkaError
from monitoring.clusters.kafka_client_settings import ClientSettings
from monitoring.error_reason import Reason
from monitoring.gateway import event_loop, request_timeouts
from monitoring.gateway.errors import Unreadable
from monitoring.gateway.wire.channel import Channel
from monitoring.gateway.wire.cluster_client import ClusterClient
from monitoring.gateway.wire.connection import ByteBudget
from monitoring.gateway.wire.metadata import Broker

_T = TypeVar("_T")


def run(work: Coroutine[Any, Any, _T]) -> _T:
    """Run a request of at most CONTROLLER_S. Raises GatewayError."""
    try:
        return event_loop.run_requests(work, request_timeouts.CONTROLLER_S)
    except (KafkaError, ValueError) as error:
        raise Unreadable(Reason("does_not_parse", why=str(error))) from error


async def on_controller(
    settings: ClientSettings, request: Callable[[Channel], Awaitable[_T]], apis: Mapping[int, str]
) -> _T:
    """Call `request` with a channel to the controller, or to any broker if there is none.

    Raises Unsupported if the broker does not offer one of `apis` (key → name).
    """
    all_brokers, controller_id = await brokers(settings)
    chosen = next((each for each in all_brokers if each.id == controller_id), all_brokers[0])
    channel = Channel(chosen.host, chosen.port, settings, ByteBudget())
    try:
        for key, name in apis.items():
            await channel.require(key, name, request_timeouts.CHANGE_S)
        return await request(channel)
    finally:
        channel.close()


async def brokers(settings: ClientSettings) -> tuple[tuple[Broker, ...], int | None]:
    """The live brokers, and the id of the controller."""
    with closing(ClusterClient(settings)) as client:
        found = await client.read_metadata(request_timeouts.CHANGE_S / 2, topics=[])
    return found.brokers, found.controller_id
