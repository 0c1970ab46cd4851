"""Reads the offsets and record batches of one topic, for pages of records and for searches.

It keeps its connections until `close`. Use it on one event loop.
"""

import asyncio
from collections.abc import Mapping
from struct import error as StructError
from time import monotonic

from brokerd.errors import KafkaError
from monitoring.clusters.kafka_client_settings import ClientSettings
from monitoring.gateway import request_timeouts
from monitoring.gateway.error_codes import raise_if_error
from monitoring.gateway.errors import ClusterUnavailable, GatewayError, NotFound, Unreadable
from monitoring.gateway.wire import fetch
from monitoring.gateway.wire.answers import ClusterAnswers
from monitoring.gateway.wire.cluster_client import ClusterClient
from monitoring.gateway.wire.fetch import FetchedRecords
from monitoring.gateway.wire.metadata import Metadata
from monitoring.reasons import Reason


class RecordFetcher:
    """Fetches from the leaders that it found last."""

    def __init__(self, settings: ClientSettings, topic: str) -> None:
        self._topic = topic
        self._client = ClusterClient(settings)
        self.leaders: dict[int, tuple[str, int]] = {}
        """Partition → host and port of its leader; without partitions that have none."""

    async def find_leaders(self, timeout_s: float) -> Metadata:
        """Read the metadata of the topic. Raises GatewayError, NotFound without such a topic."""
        metadata = await self._client.read_metadata(timeout_s, [self._topic])
        if not metadata.rows_by_topic.get(self._topic):
            raise NotFound(Reason("topic_not_on_cluster", topic=self._topic))
        self.leaders = metadata.leader_addresses(self._topic)
        return metadata

    async def offset_ranges(self, metadata: Metadata, timeout_s: float) -> dict[int, range]:
        """Partition → its offsets, from log start to end; without partitions whose leader did not
        answer."""
        answers = ClusterAnswers.empty(metadata)
        await self._client.read_offsets(answers, timeout_s)
        rows = metadata.rows_by_topic[self._topic]
        selected = slice(rows.start, rows.stop)
        starts, ends = answers.log_start[selected].tolist(), answers.log_end[selected].tolist()
        return {
            number: range(start, end)
            for number, (start, end) in enumerate(zip(starts, ends, strict=True))
            if start >= 0 and end >= 0
        }

    async def fetch(
        self,
        partition: int,
        offset: int,
        max_bytes: int,
        timeout_s: float,
        wait_ms: int = request_timeouts.FETCH_WAIT_MS,
    ) -> FetchedRecords:
        """About `max_bytes` of batches from the one that holds `offset` on, but at least one.

        A broker that delays the client by a quota is asked again. Raises GatewayError.
        """
        leader = self.leaders.get(partition)
        if leader is None:
            raise ClusterUnavailable(Reason("partition_no_leader"))
        deadline_s = monotonic() + timeout_s
        channel = self._client.channel(leader)

        def build_frame(correlation_id: int) -> bytes:
            version = channel.version(fetch.API_KEY)
            return fetch.request(
                self._topic, partition, offset, max_bytes, wait_ms, version, correlation_id
            )

        while (left_s := deadline_s - monotonic()) > 0:
            answer = await channel.request(build_frame, left_s)
            try:
                fetched = fetch.decode(answer, channel.version(fetch.API_KEY))
            except (KafkaError, ValueError, StructError) as error:
                raise Unreadable(Reason("does_not_parse", why=str(error))) from error
            if isinstance(fetched, FetchedRecords):
                raise_if_error(fetched.error)
                return fetched
            await asyncio.sleep(min(fetched.seconds, max(deadline_s - monotonic(), 0)))
        raise ClusterUnavailable(Reason("throttled"))

    async def fetch_each(
        self, offsets: Mapping[int, int], max_bytes: int, timeout_s: float, wait_ms: int
    ) -> dict[int, FetchedRecords | GatewayError]:
        """`fetch` from these offsets, by partition, at the same time: the batches or the error."""

        async def result(partition: int, offset: int) -> FetchedRecords | GatewayError:
            try:
                return await self.fetch(partition, offset, max_bytes, timeout_s, wait_ms)
            except GatewayError as error:
                return error

        results = await asyncio.gather(*(result(*each) for each in offsets.items()))
        return dict(zip(offsets, results, strict=True))

    async def close(self) -> None:
        """Close all connections."""
        await self._client.close()
