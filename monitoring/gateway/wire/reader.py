"""The hot reads of one cluster: a few large requests per broker, side by side.

Order matters: committed offsets are read before end offsets, else a busy group would show a
negative lag. Each broker's part stands alone: one that is dead or slow leaves its own figures
unknown and is named in `failures`; the others are not touched by it.

Lives in one event loop, beside which threads decode large answers. Metadata that did not change
since the last pass is not decoded again, nor are the requests built from it or the members of
unchanged groups. What a cluster may tell is bounded (limits.py).
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from struct import error as StructError
from typing import TypeVar

from brokerd.errors import KafkaError
from monitoring.gateway.counters import CounterSource
from monitoring.gateway.errors import ClusterUnavailable, GatewayError, OverLimit
from monitoring.gateway.wire import commits, groups, limits, log_dirs, metadata, offsets
from monitoring.gateway.wire.channel import Channel
from monitoring.gateway.wire.connection import ByteBudget, frame
from monitoring.gateway.wire.limits import Refusals, within
from monitoring.gateway.wire.metadata import Metadata
from monitoring.gateway.wire.reads import ClusterReads, CoordinatorRead

_GROUPS_PER_REQUEST = 1000
_LARGE_BYTES = 256 * 1024
_TORN = (StructError, ValueError, IndexError, OverflowError, KafkaError)
_Address = tuple[str, int]
_T = TypeVar("_T")


@dataclass(slots=True)
class _Remembered:
    """What was derived from the metadata; thrown away when that changes."""

    answer: bytes = b""
    metadata: Metadata | None = None
    bodies: dict[tuple[int, int], bytes | None] = field(default_factory=dict)


@dataclass(slots=True)
class _Described:
    """The last answer about members, what it meant, and what of it was refused."""

    answer: bytes
    groups: list[groups.DescribedGroup]
    refused: Refusals


class ClusterReader:
    """Reads one cluster again and again; `timeout_s` bounds each of three steps."""

    def __init__(
        self,
        bootstrap: Sequence[_Address],
        counters: CounterSource | None,
        now_ms: Callable[[], int],
    ) -> None:
        """The counters are the reader's from now on; without them the protocol tells sizes."""
        self._bootstrap = tuple(bootstrap)
        self._counters = counters
        self._now_ms = now_ms
        self._channels: dict[_Address, Channel] = {}
        self._budget = ByteBudget()
        self._remembered = _Remembered()
        # Per coordinator, if it told in the last pass.
        self._described: dict[int, _Described] = {}

    async def read(self, timeout_s: float) -> ClusterReads:
        """One pass. Raises GatewayError when no broker answers at all."""
        self._budget.renew()
        known = await self.read_metadata(timeout_s)
        reads = ClusterReads.empty(known)
        await self._each_broker(
            reads,
            (
                partial(self._read_groups, timeout_s=timeout_s),
                partial(self._read_size_and_counters, timeout_s=timeout_s),
            ),
        )
        reads.coordinators.sort(key=lambda read: read.broker_id)
        await self._read_both_offsets(reads, timeout_s)
        reads.groups_complete = _all_coordinators_told(reads)
        return reads

    async def read_offsets(self, known: Metadata, timeout_s: float) -> ClusterReads:
        """Where the logs of these partitions start and end, and nothing else."""
        reads = ClusterReads.empty(known)
        await self._read_both_offsets(reads, timeout_s)
        return reads

    async def read_metadata(
        self, timeout_s: float, body: bytes = metadata.REQUEST_BODY
    ) -> Metadata:
        """Ask whoever answered last, then the rest. Raises ClusterUnavailable or Unsupported.

        Another `body` (metadata.body_of_topic) is for a reader that asks nothing else.
        """
        failure: GatewayError = ClusterUnavailable("the cluster has no bootstrap servers")
        for address in self._addresses():
            try:
                answer = await self._channel(address).request(
                    lambda number: frame(metadata.API_KEY, metadata.VERSION, number, body),
                    timeout_s,
                )
                return await self._understand(answer, address)
            except GatewayError as error:
                failure = error
            except _TORN as error:
                failure = GatewayError(f"{address[0]}:{address[1]} does not speak Kafka: {error}")
        raise failure

    async def close(self) -> None:
        """Drop every connection."""
        for channel in self._channels.values():
            channel.close()
        self._channels.clear()
        if self._counters is not None:
            await self._counters.close()

    def _addresses(self) -> list[_Address]:
        known = self._remembered.metadata
        discovered = [(b.host, b.port) for b in known.brokers] if known else []
        addresses = list(dict.fromkeys([*discovered, *self._bootstrap]))
        # Those without a recent failure first: a dead broker is not waited for twice.
        return sorted(addresses, key=lambda a: a in self._channels and self._channels[a].failed)

    async def _understand(self, answer: bytes, address: _Address) -> Metadata:
        remembered = self._remembered
        if remembered.metadata is not None and remembered.answer[8:] == answer[8:]:
            return remembered.metadata
        known = await _decoded(metadata.decode, answer)
        if not known.brokers:
            raise ClusterUnavailable(f"{address[0]}:{address[1]} names no live broker")
        self._remembered = _Remembered(answer, known)
        self._forget_others({(b.host, b.port) for b in known.brokers} | set(self._bootstrap))
        return known

    def _forget_others(self, addresses: set[_Address]) -> None:
        for address in self._channels.keys() - addresses:
            self._channels.pop(address).close()

    def _channel(self, address: _Address) -> Channel:
        return self._channels.setdefault(address, Channel(*address, self._budget))

    async def _each_broker(
        self,
        reads: ClusterReads,
        parts: Sequence[Callable[[ClusterReads, metadata.Broker, Channel], Awaitable[None]]],
    ) -> None:
        """Run every part for every broker side by side; note what fails and go on."""

        async def alone(
            part: Callable[[ClusterReads, metadata.Broker, Channel], Awaitable[None]],
            broker: metadata.Broker,
        ) -> None:
            try:
                await part(reads, broker, self._channel((broker.host, broker.port)))
            except OverLimit as error:
                reads.answered.add(broker.id)
                reads.refused.add(f"broker {broker.id}: {error}")
            except GatewayError as error:
                reads.failures.append(f"broker {broker.id}: {error}")
            except _TORN as error:
                reads.failures.append(f"broker {broker.id}: an answer does not parse: {error}")

        await asyncio.gather(
            *(alone(part, broker) for part in parts for broker in reads.metadata.brokers)
        )

    async def _read_groups(
        self, reads: ClusterReads, broker: metadata.Broker, channel: Channel, *, timeout_s: float
    ) -> None:
        before = self._described.pop(broker.id, None)
        answer = await channel.request(groups.list_request, timeout_s)
        error, listed = await _decoded(groups.decode_list, answer, reads.refused)
        if error:
            raise GatewayError(f"lists no groups (error {error})", retriable=True)
        reads.answered.add(broker.id)
        names = list(dict.fromkeys(group.group for group in listed))
        lively = (group.group for group in listed if group.state not in ("Empty", "Dead"))
        active = list(dict.fromkeys(lively))
        parts = _slices(names)
        committed = await asyncio.gather(
            *(channel.request(partial(commits.request, part), timeout_s) for part in parts)
        )
        read = CoordinatorRead(broker.id, listed, [], [])
        for part, answer in zip(parts, committed, strict=True):
            read.commits += await _decoded(commits.decode, answer, part)
        reads.take_coordinator(read)
        if active:
            answer = await channel.request(partial(groups.describe_request, active), timeout_s)
            read.described = await self._describe(reads, broker.id, answer, active, before)

    async def _describe(
        self,
        reads: ClusterReads,
        broker_id: int,
        answer: bytes,
        asked: list[str],
        before: _Described | None,
    ) -> list[groups.DescribedGroup]:
        if before is None or before.answer[8:] != answer[8:]:
            refused = Refusals()
            found = await _decoded(groups.decode_describe, answer, asked, refused)
            before = _Described(answer, found, refused)
        members = sum(len(group.members) for group in before.groups)
        within(reads.members + members, limits.MEMBERS_MAX, "members of groups")
        reads.members += members
        reads.refused.add_all(before.refused)
        self._described[broker_id] = before
        return before.groups

    async def _read_size_and_counters(
        self, reads: ClusterReads, broker: metadata.Broker, channel: Channel, *, timeout_s: float
    ) -> None:
        """From brokerd's admin port if there is one (it tells more), else from Kafka's protocol."""
        if self._counters is not None and self._counters.serves(broker.id):
            try:
                await self._counters.read_into(reads, broker.id, timeout_s)
                return
            except OverLimit as error:
                reads.refused.add(f"broker {broker.id}: {error}")
            except GatewayError as error:
                reads.failures.append(f"broker {broker.id}: {error}")
        answer = await channel.request(
            lambda number: frame(log_dirs.API_KEY, log_dirs.VERSION, number, log_dirs.REQUEST_BODY),
            timeout_s,
        )
        log_dirs.decode_into(reads, broker.id, answer)

    async def _read_both_offsets(self, reads: ClusterReads, timeout_s: float) -> None:
        reads.at_ms = self._now_ms()
        latest = partial(self._read_offsets, timeout_s=timeout_s, timestamp=offsets.LATEST)
        earliest = partial(self._read_offsets, timeout_s=timeout_s, timestamp=offsets.EARLIEST)
        await self._each_broker(reads, (latest, earliest))

    async def _read_offsets(
        self,
        reads: ClusterReads,
        broker: metadata.Broker,
        channel: Channel,
        *,
        timeout_s: float,
        timestamp: int,
    ) -> None:
        bodies = self._remembered.bodies
        key = (broker.id, timestamp)
        if key not in bodies:
            bodies[key] = offsets.request_body(reads.metadata, broker.id, timestamp)
        body = bodies[key]
        if body is None:
            return
        answer = await channel.request(
            lambda number: frame(offsets.API_KEY, offsets.VERSION, number, body), timeout_s
        )
        into = reads.log_end if timestamp == offsets.LATEST else reads.log_start
        offsets.decode_into(into, reads.metadata, broker.id, answer, reads.refused)


async def _decoded(decode: Callable[..., _T], answer: bytes, *more: object) -> _T:
    """What `decode` makes of an answer; a large one holds up no other cluster meanwhile."""
    if len(answer) < _LARGE_BYTES:
        return decode(answer, *more)
    return await asyncio.to_thread(decode, answer, *more)


def _slices(names: list[str]) -> list[list[str]]:
    step = _GROUPS_PER_REQUEST
    return [names[at : at + step] for at in range(0, len(names), step)]


def _all_coordinators_told(reads: ClusterReads) -> bool:
    """Whether a group that is absent from the reads is absent from the cluster, too."""
    told = {read.broker_id for read in reads.coordinators}
    rows = reads.metadata.spans.get("__consumer_offsets", range(0))
    leaders = set(reads.metadata.leaders[rows.start : rows.stop].tolist())
    refused = any(group.error for read in reads.coordinators for group in read.commits)
    brokers = {broker.id for broker in reads.metadata.brokers}
    return leaders <= told and brokers <= told and not refused
