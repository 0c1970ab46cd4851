"""The brokers of one cluster: their metadata, connections to them, and requests.

A client runs on one event loop; threads decode large responses. While the metadata is unchanged, it
is not decoded again, and the requests made from it are not built again.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from struct import error as StructError
from typing import TypeVar

from brokerd.errors import KafkaError
from monitoring.clusters.kafka_client_settings import ClientSettings
from monitoring.error_reason import Reason
from monitoring.gateway.errors import ClusterUnavailable, GatewayError, OverLimit
from monitoring.gateway.wire import list_offsets, metadata
from monitoring.gateway.wire.answers import ClusterAnswers
from monitoring.gateway.wire.channel import Channel
from monitoring.gateway.wire.connection import ByteBudget, frame
from monitoring.gateway.wire.metadata import Metadata

_HEADER_BYTES = 8  # correlation id and throttle time, in which equal answers differ
_LARGE_BYTES = 256 * 1024
_DECODE_ERRORS = (StructError, ValueError, IndexError, OverflowError, KafkaError)
_Address = tuple[str, int]
_T = TypeVar("_T")
_BrokerStep = Callable[[ClusterAnswers, metadata.Broker, Channel], Awaitable[None]]


@dataclass(slots=True)
class _MetadataCache:
    """The last metadata, and request bodies made from it."""

    answer: bytes = b""
    metadata: Metadata | None = None
    bodies: dict[tuple[int, int], bytes] = field(default_factory=dict)


class ClusterClient:
    """Requests to the brokers of one cluster; it keeps its connections until `close`."""

    def __init__(self, settings: ClientSettings) -> None:
        self._settings = settings
        self._channels: dict[_Address, Channel] = {}
        self.answered: _Address | None = None  # the broker that sent the metadata last
        self._budget = ByteBudget()
        self._cache = _MetadataCache()

    async def read_metadata(
        self, timeout_s: float, topics: Sequence[str] | None = metadata.ALL_TOPICS
    ) -> Metadata:
        """Try the brokers until one answers. A pass begins: its responses together may again have
        as many bytes as one pass may. Raises ClusterUnavailable or Unsupported.

        Use `topics` only with a client that takes no samples.
        """
        self._budget.renew()
        failure: GatewayError = ClusterUnavailable(Reason("no_bootstrap_servers"))
        for address in self._addresses():
            try:
                return await self._ask_metadata(address, topics, timeout_s)
            except GatewayError as error:
                failure = error
            except _DECODE_ERRORS as error:
                reason = Reason("not_kafka", address=_address_text(address), why=str(error))
                failure = GatewayError(reason)
        raise failure

    def _addresses(self) -> list[_Address]:
        cluster_metadata = self._cache.metadata
        discovered = (
            [(b.host, b.port) for b in cluster_metadata.brokers] if cluster_metadata else []
        )
        addresses = list(dict.fromkeys([*discovered, *self._settings.addresses]))
        # Brokers without a recent failure first.
        return sorted(addresses, key=lambda a: a in self._channels and self._channels[a].failed)

    async def _ask_metadata(
        self, address: _Address, topics: Sequence[str] | None, timeout_s: float
    ) -> Metadata:
        channel, cache = self._channel(address), self._cache

        def build_frame(correlation_id: int) -> bytes:
            return metadata.request(topics, channel.version(metadata.API_KEY), correlation_id)

        answer = await channel.request(build_frame, timeout_s)
        self.answered = address
        version = channel.version(metadata.API_KEY)
        if cache.metadata is not None and equal_answers(cache.answer, answer):
            return cache.metadata
        cluster_metadata = await decoded(metadata.decode, answer, version)
        if not cluster_metadata.brokers:
            raise ClusterUnavailable(Reason("no_live_broker", address=_address_text(address)))
        self._cache = _MetadataCache(answer, cluster_metadata)
        self._close_other_channels(
            {(b.host, b.port) for b in cluster_metadata.brokers} | set(self._settings.addresses)
        )
        return cluster_metadata

    def _close_other_channels(self, addresses: set[_Address]) -> None:
        for address in self._channels.keys() - addresses:
            self._channels.pop(address).close()

    def _channel(self, address: _Address) -> Channel:
        return self._channels.setdefault(address, Channel(*address, self._settings, self._budget))

    def channel(self, address: _Address) -> Channel:
        """The channel for a single request, whose response may be as large as a pass."""
        self._budget.renew()
        return self._channel(address)

    async def each_broker(
        self,
        answers: ClusterAnswers,
        steps: Sequence[_BrokerStep],
    ) -> None:
        """Run all steps for all brokers in parallel; add errors to `answers`."""

        async def run(step: _BrokerStep, broker: metadata.Broker) -> None:
            try:
                await step(answers, broker, self._channel((broker.host, broker.port)))
            except OverLimit as error:
                answers.answering_brokers.add(broker.id)
                answers.invalid.add(Reason("of_broker", id=broker.id, why=error.message))
            except GatewayError as error:
                answers.failures.append(Reason("of_broker", id=broker.id, why=error.message))
            except _DECODE_ERRORS as error:
                why = Reason("does_not_parse", why=str(error))
                answers.failures.append(Reason("of_broker", id=broker.id, why=why))

        await asyncio.gather(
            *(run(step, broker) for step in steps for broker in answers.metadata.brokers)
        )

    async def read_offsets(self, answers: ClusterAnswers, timeout_s: float) -> None:
        """Add the log start and end offsets of all partitions to `answers`. Log start offsets are
        not requested from a broker whose partitions all have one (from brokerd's admin port)."""
        latest = partial(self._read_offsets, timeout_s=timeout_s, timestamp=list_offsets.LATEST)
        earliest = partial(self._read_offsets, timeout_s=timeout_s, timestamp=list_offsets.EARLIEST)
        await self.each_broker(answers, (latest, earliest))

    async def _read_offsets(
        self,
        answers: ClusterAnswers,
        broker: metadata.Broker,
        channel: Channel,
        *,
        timeout_s: float,
        timestamp: int,
    ) -> None:
        target = answers.log_end if timestamp == list_offsets.LATEST else answers.log_start
        led = answers.metadata.leaders == broker.id
        if (target[led] != list_offsets.UNKNOWN).all():
            return
        bodies = self._cache.bodies
        key = (broker.id, timestamp)
        if key not in bodies:
            bodies[key] = list_offsets.request_body(answers.metadata, broker.id, timestamp)
        body = bodies[key]
        answer = await channel.request(
            lambda correlation_id: frame(
                list_offsets.API_KEY, list_offsets.VERSION, correlation_id, body
            ),
            timeout_s,
        )
        list_offsets.decode_into(target, answers.metadata, broker.id, answer, answers.invalid)

    def close(self) -> None:
        """Close all connections."""
        for channel in self._channels.values():
            channel.close()
        self._channels.clear()


async def decoded(decode: Callable[..., _T], answer: bytes, *more: object) -> _T:
    """Decode a response; a large one in a thread, so that the event loop is not blocked."""
    if len(answer) < _LARGE_BYTES:
        return decode(answer, *more)
    return await asyncio.to_thread(decode, answer, *more)


def equal_answers(answer: bytes, other: bytes) -> bool:
    """Whether two responses have the same content."""
    return answer[_HEADER_BYTES:] == other[_HEADER_BYTES:]


def _address_text(address: _Address) -> str:
    return f"{address[0]}:{address[1]}"
