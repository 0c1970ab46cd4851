"""Reads a whole cluster for a sample: a few large requests per broker, in parallel.

Committed offsets are read before end offsets; otherwise the lag of a busy group could be negative.
If a broker is down or slow, only its values are unknown, and `failures` has an entry for it.

The reader runs on one event loop; threads decode large responses. While the metadata is unchanged,
it is not decoded again, and the requests made from it are not built again. The members of unchanged
groups are not decoded again. limits.py limits what is read.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from struct import error as StructError
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from brokerd.errors import KafkaError
from monitoring.clusters.kafka_client_settings import ClientSettings
from monitoring.gateway.errors import ClusterUnavailable, GatewayError, OverLimit
from monitoring.gateway.wire import (
    groups,
    last_records,
    limits,
    list_offsets,
    log_dirs,
    metadata,
    offset_fetch,
)
from monitoring.gateway.wire.answers import ClusterAnswers, CoordinatorAnswers
from monitoring.gateway.wire.channel import Channel
from monitoring.gateway.wire.connection import ByteBudget, frame
from monitoring.gateway.wire.limits import InvalidParts, check_limit
from monitoring.gateway.wire.metadata import Longs, Metadata
from monitoring.reasons import Reason

if TYPE_CHECKING:  # it needs Django, which the process of a search does not load
    from monitoring.gateway.brokerd_stats import BrokerdStatsReader

_GROUPS_PER_REQUEST = 1000
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
    bodies: dict[tuple[int, int], bytes | None] = field(default_factory=dict)


@dataclass(slots=True)
class _CachedMembers:
    """The last DescribeGroups response, decoded, and what is invalid in it."""

    answer: bytes
    groups: list[groups.DescribedGroup]
    invalid: InvalidParts


class ClusterReader:
    """Reads one cluster repeatedly; `timeout_s` limits each step: metadata, groups, offsets."""

    def __init__(
        self,
        settings: ClientSettings,
        broker_stats: "BrokerdStatsReader | None",
        now_ms: Callable[[], int],
    ) -> None:
        """The reader closes `broker_stats`. Without it, sizes come from DescribeLogDirs."""
        self._settings = settings
        self._broker_stats = broker_stats
        self._now_ms = now_ms
        self._channels: dict[_Address, Channel] = {}
        self.answered: _Address | None = None  # the broker that sent the metadata last
        self._budget = ByteBudget()
        self._cache = _MetadataCache()
        # Per coordinator that answered in the last pass.
        self._members_by_coordinator: dict[int, _CachedMembers] = {}

    async def read(self, timeout_s: float) -> ClusterAnswers:
        """One pass. Raises GatewayError if no broker answers."""
        cluster_metadata = await self.read_metadata(timeout_s)
        answers = ClusterAnswers.empty(cluster_metadata)
        await self._each_broker(
            answers,
            (
                partial(self._read_groups, timeout_s=timeout_s),
                partial(self._read_size_and_counters, timeout_s=timeout_s),
            ),
        )
        answers.coordinators.sort(key=lambda coordinator: coordinator.broker_id)
        await self._read_start_and_end_offsets(answers, timeout_s)
        answers.groups_complete = _all_coordinators_answered(answers)
        return answers

    async def read_metadata(
        self, timeout_s: float, topics: Sequence[str] | None = metadata.ALL_TOPICS
    ) -> Metadata:
        """Try the brokers until one answers; a new pass begins. Raises ClusterUnavailable or
        Unsupported.

        Use `topics` only with a reader that takes no samples.
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
        if cache.metadata is not None and cache.answer[_HEADER_BYTES:] == answer[_HEADER_BYTES:]:
            return cache.metadata
        cluster_metadata = await _decoded(metadata.decode, answer, version)
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

    async def _each_broker(
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

    async def _read_groups(
        self,
        answers: ClusterAnswers,
        broker: metadata.Broker,
        channel: Channel,
        *,
        timeout_s: float,
    ) -> None:
        cached = self._members_by_coordinator.pop(broker.id, None)
        answer = await channel.request(groups.list_request, timeout_s)
        error, listed = await _decoded(groups.decode_list, answer, answers.invalid)
        if error:
            raise GatewayError(Reason("lists_no_groups", error=error), retriable=True)
        answers.answering_brokers.add(broker.id)
        names = list(dict.fromkeys(group.group for group in listed))
        active_names = (group.group for group in listed if group.state not in ("Empty", "Dead"))
        active = list(dict.fromkeys(active_names))
        parts = _request_batches(names)
        committed = await asyncio.gather(
            *(channel.request(partial(offset_fetch.request, part), timeout_s) for part in parts)
        )
        coordinator = CoordinatorAnswers(broker.id, listed, commits=[], described=[])
        for part, answer in zip(parts, committed, strict=True):
            coordinator.commits += await _decoded(offset_fetch.decode, answer, part)
        answers.add_coordinator(coordinator)
        if active:
            answer = await channel.request(partial(groups.describe_request, active), timeout_s)
            coordinator.described = await self._described_groups(
                answers, broker.id, answer, active, cached
            )

    async def _described_groups(
        self,
        answers: ClusterAnswers,
        broker_id: int,
        answer: bytes,
        requested: list[str],
        cached: _CachedMembers | None,
    ) -> list[groups.DescribedGroup]:
        if cached is None or cached.answer[_HEADER_BYTES:] != answer[_HEADER_BYTES:]:
            invalid = InvalidParts()
            described = await _decoded(groups.decode_describe, answer, requested, invalid)
            cached = _CachedMembers(answer, described, invalid)
        members = sum(len(group.members) for group in cached.groups)
        check_limit(answers.member_count + members, limits.MEMBERS_MAX, "too_many_members")
        answers.member_count += members
        answers.invalid.add_all(cached.invalid)
        self._members_by_coordinator[broker_id] = cached
        return cached.groups

    async def _read_size_and_counters(
        self,
        answers: ClusterAnswers,
        broker: metadata.Broker,
        channel: Channel,
        *,
        timeout_s: float,
    ) -> None:
        """From brokerd's admin port if there is one, else by DescribeLogDirs."""
        if self._broker_stats is not None and self._broker_stats.has_admin_port(broker.id):
            try:
                await self._broker_stats.read_into(answers, broker.id, timeout_s)
                return
            except OverLimit as error:
                answers.invalid.add(Reason("of_broker", id=broker.id, why=error.message))
            except GatewayError as error:
                answers.failures.append(Reason("of_broker", id=broker.id, why=error.message))

        def build_frame(correlation_id: int) -> bytes:
            return log_dirs.request(channel.version(log_dirs.API_KEY), correlation_id)

        answer = await channel.request(build_frame, timeout_s)
        log_dirs.decode_into(answers, broker.id, answer, channel.version(log_dirs.API_KEY))

    async def _read_start_and_end_offsets(self, answers: ClusterAnswers, timeout_s: float) -> None:
        answers.at_ms = self._now_ms()
        latest = partial(self._read_offsets, timeout_s=timeout_s, timestamp=list_offsets.LATEST)
        earliest = partial(self._read_offsets, timeout_s=timeout_s, timestamp=list_offsets.EARLIEST)
        await self._each_broker(answers, (latest, earliest))

    async def _read_offsets(
        self,
        answers: ClusterAnswers,
        broker: metadata.Broker,
        channel: Channel,
        *,
        timeout_s: float,
        timestamp: int,
    ) -> None:
        bodies = self._cache.bodies
        key = (broker.id, timestamp)
        if key not in bodies:
            bodies[key] = list_offsets.request_body(answers.metadata, broker.id, timestamp)
        body = bodies[key]
        if body is None:
            return
        answer = await channel.request(
            lambda correlation_id: frame(
                list_offsets.API_KEY, list_offsets.VERSION, correlation_id, body
            ),
            timeout_s,
        )
        target = answers.log_end if timestamp == list_offsets.LATEST else answers.log_start
        list_offsets.decode_into(target, answers.metadata, broker.id, answer, answers.invalid)

    async def read_offsets(self, cluster_metadata: Metadata, timeout_s: float) -> ClusterAnswers:
        """Read only log start and end offsets."""
        answers = ClusterAnswers.empty(cluster_metadata)
        await self._read_start_and_end_offsets(answers, timeout_s)
        return answers

    async def read_last_records(
        self, answers: ClusterAnswers, rows: Longs, timeout_s: float
    ) -> Longs:
        """The times of the last records of these rows, after `read`; an array with all rows.

        NO_RECORD: there is no record with a time. UNKNOWN: not asked for, no answer, or the broker
        is too old. Errors are added to `answers`.
        """
        times_ms = np.full(answers.metadata.row_count, list_offsets.UNKNOWN, dtype=np.int64)

        async def step(answers: ClusterAnswers, broker: metadata.Broker, channel: Channel) -> None:
            led = rows[answers.metadata.leaders[rows] == broker.id]
            if not len(led) or not channel.supports(last_records.API_KEY, last_records.VERSION):
                return
            build_frame = partial(last_records.request, answers.metadata, led)
            answer = await channel.request(build_frame, timeout_s)
            last_records.decode_into(times_ms, answers.metadata, led, answer)

        await self._each_broker(answers, (step,))
        return times_ms

    def channel(self, address: _Address) -> Channel:
        """The channel for a request of another kind, whose response may be as large as a pass."""
        self._budget.renew()
        return self._channel(address)

    async def close(self) -> None:
        """Close all connections."""
        for channel in self._channels.values():
            channel.close()
        self._channels.clear()
        if self._broker_stats is not None:
            await self._broker_stats.close()


async def _decoded(decode: Callable[..., _T], answer: bytes, *more: object) -> _T:
    """Decode a response; a large one in a thread, so that the event loop is not blocked."""
    if len(answer) < _LARGE_BYTES:
        return decode(answer, *more)
    return await asyncio.to_thread(decode, answer, *more)


def _request_batches(names: list[str]) -> list[list[str]]:
    step = _GROUPS_PER_REQUEST
    return [names[at : at + step] for at in range(0, len(names), step)]


def _all_coordinators_answered(answers: ClusterAnswers) -> bool:
    """Whether the list of groups is complete."""
    answered = {coordinator.broker_id for coordinator in answers.coordinators}
    rows = answers.metadata.rows_by_topic.get("__consumer_offsets", range(0))
    leaders = set(answers.metadata.leaders[rows.start : rows.stop].tolist())
    has_errors = any(
        group.error for coordinator in answers.coordinators for group in coordinator.commits
    )
    brokers = {broker.id for broker in answers.metadata.brokers}
    return leaders <= answered and brokers <= answered and not has_errors


def _address_text(address: _Address) -> str:
    return f"{address[0]}:{address[1]}"
