"""Requests to read and change settings, with the project's own Kafka client.

Every call waits for the broker's response, at most three times READ_S, and raises GatewayError.
`resource_type` is one of wire/configs.py. A request about a broker goes to that broker, one about a
topic or all brokers (broker None) to the first that answers.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial

from brokerd.errors import KafkaError
from monitoring.clusters.kafka_client_settings import ClientSettings
from monitoring.error_reason import Reason
from monitoring.gateway import event_loop, request_timeouts
from monitoring.gateway.config_value import ConfigValue
from monitoring.gateway.error_codes import raise_if_error
from monitoring.gateway.errors import ClusterUnavailable, NotFound, Unreadable, Unsupported
from monitoring.gateway.wire import client_pool
from monitoring.gateway.wire import configs as wire_configs


def describe(
    settings: ClientSettings,
    broker_id: int | None,
    resource_type: int,
    name: str,
    keys: Sequence[str] | None = None,
) -> list[ConfigValue]:
    """The settings `keys` of a resource, None = all, sorted by name.

    Raises NotFound, also for a broker that is not up.
    """
    request = partial(wire_configs.describe_request, resource_type, name, keys)
    answer = _call(settings, broker_id, request)
    try:
        error, text, values = wire_configs.decode_describe(resource_type, answer)
    except (KafkaError, ValueError) as problem:
        raise Unreadable(Reason("does_not_parse", why=str(problem))) from problem
    raise_if_error(error, text)
    return values


def alter(
    settings: ClientSettings,
    broker_id: int | None,
    resource_type: int,
    name: str,
    configs: Mapping[str, str | None] | Mapping[str, str],
    *,
    validate_only: bool,
) -> None:
    """Set settings of a broker (None = remove); the others stay. Raises Refused."""
    request = partial(wire_configs.alter_request, resource_type, name, dict(configs), validate_only)
    answer = _call(settings, broker_id, request)
    try:
        error, text = wire_configs.decode_alter(answer)
    except (KafkaError, ValueError) as problem:
        raise Unreadable(Reason("does_not_parse", why=str(problem))) from problem
    raise_if_error(error, text)


def _call(
    settings: ClientSettings, broker_id: int | None, request: Callable[[int], bytes]
) -> bytes:
    return event_loop.run_requests(_send(settings, broker_id, request), 3 * request_timeouts.READ_S)


async def _send(
    settings: ClientSettings, broker_id: int | None, request: Callable[[int], bytes]
) -> bytes:
    async with client_pool.client(settings) as client:
        brokers = (await client.read_metadata(request_timeouts.READ_S, topics=[])).brokers
        found = [(each.host, each.port) for each in brokers if broker_id in (None, each.id)]
        if not found:
            raise NotFound(Reason("no_such_broker", id=broker_id))
        found.sort(key=lambda address: address != client.answered)
        for address in found[:-1]:
            with suppress(ClusterUnavailable, Unsupported):
                return await client.channel(address).request(request, request_timeouts.READ_S)
        return await client.channel(found[-1]).request(request, request_timeouts.READ_S)
