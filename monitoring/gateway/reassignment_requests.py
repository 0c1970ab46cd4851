"""Reassignments, elections of leaders, sizes of replicas, with the project's own Kafka client.

Every call waits for the response, at most `request_timeouts.CONTROLLER_S`, and raises GatewayError:
Unsupported if the cluster's ApiVersions do not have the request.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from brokerd.errors import ErrorCode, KafkaError
from monitoring.clusters.kafka_client_settings import ClientSettings
from monitoring.gateway import controller_requests, request_timeouts
from monitoring.gateway.error_codes import raise_if_error, reason_of
from monitoring.gateway.errors import GatewayError
from monitoring.gateway.topic_partition import TopicPartition
from monitoring.gateway.wire import reassignments as wire
from monitoring.gateway.wire.channel import Channel
from monitoring.gateway.wire.connection import ByteBudget
from monitoring.gateway.wire.metadata import Broker
from monitoring.gateway.wire.reassignments import Reassignment

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class ReplicaSizes:
    """`sizes`: partition → broker → bytes; `free`: broker → free bytes. No entry: unknown."""

    sizes: Mapping[TopicPartition, Mapping[int, int]]
    free: Mapping[int, int]


class Reassignments:
    """Replicas and leaders of the partitions of one cluster."""

    def __init__(self, settings: ClientSettings) -> None:
        self._settings = settings

    def check_supported(self) -> None:
        """Raises Unsupported if the cluster cannot list and alter reassignments."""
        self._ask(_check_versions_only, wire.ALTER_KEY, wire.LIST_KEY)

    def in_progress(self) -> list[Reassignment]:
        """All reassignments in progress, whoever started them."""

        async def ask(channel: Channel) -> list[Reassignment]:
            answer = await channel.request(wire.list_request, request_timeouts.CHANGE_S)
            code, text, found = wire.decode_list(answer)
            raise_if_error(code, text)
            return found

        return self._ask(ask, wire.LIST_KEY)

    def alter(
        self, targets: Mapping[TopicPartition, Sequence[int] | None]
    ) -> dict[TopicPartition, str]:
        """Start reassignments to these replicas (None = cancel); returns the errors."""

        async def ask(channel: Channel) -> dict[TopicPartition, str]:
            answer = await channel.request(
                partial(wire.alter_request, targets), request_timeouts.CHANGE_S
            )
            code, text, failures = wire.decode_alter(answer)
            raise_if_error(code, text)
            return {key: reason_of(*failure) for key, failure in failures.items()}

        return self._ask(ask, wire.ALTER_KEY)

    def elect_leaders(self, partitions: Sequence[TopicPartition]) -> dict[TopicPartition, str]:
        """Make the preferred replicas leaders; returns the errors."""

        async def ask(channel: Channel) -> dict[TopicPartition, str]:
            answer = await channel.request(
                partial(wire.elect_request, partitions), request_timeouts.CHANGE_S
            )
            code, text, failures = wire.decode_elect(answer)
            raise_if_error(code, text)
            return {
                key: reason_of(*failure)
                for key, failure in failures.items()
                if failure[0] != ErrorCode.ELECTION_NOT_NEEDED
            }

        return self._ask(ask, wire.ELECT_KEY)

    def sizes(self, partitions: Sequence[TopicPartition]) -> ReplicaSizes:
        """The sizes of all replicas; a broker that does not answer is left out."""
        return controller_requests.run(self._read_sizes(partitions))

    def _ask(self, ask: Callable[[Channel], Awaitable[_T]], *keys: int) -> _T:
        names = {key: wire.NAMES[key] for key in keys}
        return controller_requests.run(
            controller_requests.on_controller(self._settings, ask, names)
        )

    async def _read_sizes(self, partitions: Sequence[TopicPartition]) -> ReplicaSizes:
        brokers, _controller_id = await controller_requests.brokers(self._settings)
        sizes: dict[TopicPartition, dict[int, int]] = {}
        free: dict[int, int] = {}

        async def read(broker: Broker) -> None:
            channel = Channel(broker.host, broker.port, self._settings, ByteBudget())

            def build(correlation_id: int) -> bytes:
                return wire.sizes_request(
                    partitions, channel.version(wire.LOG_DIRS_KEY), correlation_id
                )

            try:
                answer = await channel.request(build, request_timeouts.CHANGE_S / 2)
                reported, free_bytes = wire.decode_sizes(answer, channel.version(wire.LOG_DIRS_KEY))
            except (GatewayError, KafkaError, ValueError):
                return
            finally:
                channel.close()
            for key, size in reported.items():
                sizes.setdefault(key, {})[broker.id] = size
            if free_bytes is not None:
                free[broker.id] = free_bytes

        await asyncio.gather(*map(read, brokers))
        return ReplicaSizes(sizes, free)


async def _check_versions_only(channel: Channel) -> None:
    """No request: `on_controller` has checked the versions."""
