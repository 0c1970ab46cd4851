"""Reads a whole cluster for a sample: a few large requests per broker, in parallel.

Committed offsets are read before end offsets; otherwise the lag of a busy group could be negative.
If a broker is down or slow, only its values are unknown, and `failures` has an entry for it.

The members of unchanged groups are not decoded again. monitoring/gateway/wire/response_limits.py
limits what is read.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from monitoring.error_reason import Reason
from monitoring.gateway.brokerd_sample import BrokerdStatsReader
from monitoring.gateway.errors import GatewayError, OverLimit
from monitoring.gateway.wire import (
    groups,
    last_records,
    list_offsets,
    log_dirs,
    metadata,
    offset_fetch,
    response_limits,
)
from monitoring.gateway.wire.answers import ClusterAnswers, CoordinatorAnswers
from monitoring.gateway.wire.channel import Channel
from monitoring.gateway.wire.cluster_client import ClusterClient, decoded, equal_answers
from monitoring.gateway.wire.metadata import Longs
from monitoring.gateway.wire.response_limits import InvalidParts, check_limit

_GROUPS_PER_REQUEST = 1000


@dataclass(slots=True)
class _CachedMembers:
    """The last DescribeGroups response, decoded, and what is invalid in it."""

    answer: bytes
    groups: list[groups.DescribedGroup]
    invalid: InvalidParts


class SampleReader:
    """Reads one cluster repeatedly; `timeout_s` limits each request."""

    def __init__(
        self,
        client: ClusterClient,
        broker_stats: BrokerdStatsReader | None,
        now_ms: Callable[[], int],
    ) -> None:
        """The reader closes `client` and `broker_stats`.

        Without `broker_stats`, sizes come from DescribeLogDirs.
        """
        self._client = client
        self._broker_stats = broker_stats
        self._now_ms = now_ms
        # Per coordinator that answered in the last pass.
        self._members_by_coordinator: dict[int, _CachedMembers] = {}

    async def read(self, timeout_s: float) -> ClusterAnswers:
        """One pass. Raises GatewayError if no broker answers."""
        cluster_metadata = await self._client.read_metadata(timeout_s)
        answers = ClusterAnswers.empty(cluster_metadata)
        await self._client.each_broker(
            answers,
            (
                partial(self._read_groups, timeout_s=timeout_s),
                partial(self._read_size_and_counters, timeout_s=timeout_s),
            ),
        )
        answers.coordinators.sort(key=lambda coordinator: coordinator.broker_id)
        answers.at_ms = self._now_ms()
        await self._client.read_offsets(answers, timeout_s)
        answers.groups_complete = _all_coordinators_answered(answers)
        return answers

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
        error, listed = await decoded(groups.decode_list, answer, answers.invalid)
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
            coordinator.commits += await decoded(offset_fetch.decode, answer, part)
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
        if cached is None or not equal_answers(cached.answer, answer):
            invalid = InvalidParts()
            described = await decoded(groups.decode_describe, answer, requested, invalid)
            cached = _CachedMembers(answer, described, invalid)
        members = sum(len(group.members) for group in cached.groups)
        check_limit(answers.member_count + members, response_limits.MEMBERS_MAX, "too_many_members")
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

        await self._client.each_broker(answers, (step,))
        return times_ms

    async def close(self) -> None:
        """Close all connections."""
        self._client.close()
        if self._broker_stats is not None:
            await self._broker_stats.close()


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
