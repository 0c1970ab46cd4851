"""Reassignments, elections of leaders, sizes of replicas, with the project's own Kafka client.

Every call waits for the response, at most 30 seconds, and raises GatewayError: Unsupported if the
cluster's ApiVersions do not have the request.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from brokerd.errors import KafkaError
from monitoring.client_settings import ClientSettings
from monitoring.clock import now_ms
from monitoring.gateway import loop
from monitoring.gateway.errors import (
    ClusterUnavailable,
    GatewayError,
    Refused,
    Unreadable,
)
from monitoring.gateway.wire import reassignments as wire
from monitoring.gateway.wire.channel import Channel
from monitoring.gateway.wire.connection import ByteBudget
from monitoring.gateway.wire.limits import printable
from monitoring.gateway.wire.metadata import Broker
from monitoring.gateway.wire.reader import ClusterReader
from monitoring.gateway.wire.reassignments import PartitionKey, Reassignment
from monitoring.reasons import Reason

_TIMEOUT_S = 15.0
_ELECTION_NOT_NEEDED = 84
_TEXT_MAX = 300
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class ReplicaSizes:
    """What the brokers told. `sizes`: partition → broker → bytes; `free`: broker → free bytes."""

    sizes: Mapping[PartitionKey, Mapping[int, int]]
    free: Mapping[int, int]


class Reassignments:
    """Replicas and leaders of the partitions of one cluster."""

    def __init__(self, settings: ClientSettings) -> None:
        self._settings = settings

    def check(self) -> None:
        """Raises Unsupported if the cluster cannot list and alter reassignments."""
        self._run(self._on_controller(_nothing, (wire.ALTER_KEY, wire.LIST_KEY)))

    def in_progress(self) -> list[Reassignment]:
        """All reassignments in progress, whoever started them."""

        async def ask(channel: Channel) -> list[Reassignment]:
            answer = await channel.request(wire.list_request, _TIMEOUT_S)
            code, text, found = wire.decode_list(answer)
            _check(code, text)
            return found

        return self._run(self._on_controller(ask, (wire.LIST_KEY,)))

    def alter(
        self, targets: Mapping[PartitionKey, Sequence[int] | None]
    ) -> dict[PartitionKey, str]:
        """Start reassignments to these replicas (None = cancel); returns the errors."""

        async def ask(channel: Channel) -> dict[PartitionKey, str]:
            answer = await channel.request(partial(wire.alter_request, targets), _TIMEOUT_S)
            code, text, failures = wire.decode_alter(answer)
            _check(code, text)
            return {key: _refusal(*failure) for key, failure in failures.items()}

        return self._run(self._on_controller(ask, (wire.ALTER_KEY,)))

    def elect_leaders(self, partitions: Sequence[PartitionKey]) -> dict[PartitionKey, str]:
        """Make the preferred replicas leaders; returns the errors."""

        async def ask(channel: Channel) -> dict[PartitionKey, str]:
            answer = await channel.request(partial(wire.elect_request, partitions), _TIMEOUT_S)
            code, text, failures = wire.decode_elect(answer)
            _check(code, text)
            return {
                key: _refusal(*failure)
                for key, failure in failures.items()
                if failure[0] != _ELECTION_NOT_NEEDED
            }

        return self._run(self._on_controller(ask, (wire.ELECT_KEY,)))

    def sizes(self, partitions: Sequence[PartitionKey]) -> ReplicaSizes:
        """The sizes of all replicas; a broker that does not answer is left out."""
        return self._run(self._read_sizes(partitions))

    def _run(self, work: Awaitable[_T]) -> _T:
        async def guarded() -> _T:
            return await work

        try:
            return loop.run(guarded(), 2 * _TIMEOUT_S)
        except TimeoutError as error:
            raise ClusterUnavailable(Reason("brokers_late")) from error
        except (KafkaError, ValueError) as error:
            raise Unreadable(Reason("does_not_parse", why=str(error))) from error

    async def _on_controller(
        self, ask: Callable[[Channel], Awaitable[_T]], keys: Sequence[int]
    ) -> _T:
        """Call `ask` with the controller, or with any broker if the cluster names none."""
        brokers, controller_id = await self._brokers()
        chosen = next((each for each in brokers if each.id == controller_id), brokers[0])
        channel = Channel(chosen.host, chosen.port, self._settings, ByteBudget())
        try:
            for key in keys:
                await channel.require(key, wire.NAMES[key], _TIMEOUT_S)
            return await ask(channel)
        finally:
            channel.close()

    async def _brokers(self) -> tuple[tuple[Broker, ...], int | None]:
        reader = ClusterReader(self._settings, None, now_ms)
        try:
            found = await reader.read_metadata(_TIMEOUT_S / 2, [])
        finally:
            await reader.close()
        return found.brokers, found.controller_id

    async def _read_sizes(self, partitions: Sequence[PartitionKey]) -> ReplicaSizes:
        brokers, _controller_id = await self._brokers()
        sizes: dict[PartitionKey, dict[int, int]] = {}
        free: dict[int, int] = {}

        async def read(broker: Broker) -> None:
            channel = Channel(broker.host, broker.port, self._settings, ByteBudget())

            def build(number: int) -> bytes:
                return wire.sizes_request(partitions, channel.version(wire.LOG_DIRS_KEY), number)

            try:
                answer = await channel.request(build, _TIMEOUT_S / 2)
                told, left = wire.decode_sizes(answer, channel.version(wire.LOG_DIRS_KEY))
            except (GatewayError, KafkaError, ValueError):
                return
            finally:
                channel.close()
            for key, size in told.items():
                sizes.setdefault(key, {})[broker.id] = size
            if left is not None:
                free[broker.id] = left

        await asyncio.gather(*map(read, brokers))
        return ReplicaSizes(sizes, free)


async def _nothing(channel: Channel) -> None:
    """Only the check of versions."""


def _refusal(code: int, text: str) -> str:
    told = printable(text, _TEXT_MAX)
    return Reason("cluster_says", text=told) if told else Reason("kafka_error", error=code)


def _check(code: int, text: str) -> None:
    if code:
        raise Refused(_refusal(code, text))
