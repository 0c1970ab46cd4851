"""Reads the offsets and record batches of one topic, for pages of records and for searches.

It keeps its connections until `close`, and then leaves them to others (client_pool.py). Use it on
one event loop.
"""

import asyncio
from collections.abc import Mapping
from struct import error as StructError
from time import monotonic

from brokerd.errors import ErrorCode, KafkaError
from monitoring.clusters.kafka_client_settings import ClientSettings
from monitoring.error_reason import Reason
from monitoring.gateway import request_timeouts
from monitoring.gateway.error_codes import exception_of, raise_if_error
from monitoring.gateway.errors import ClusterUnavailable, GatewayError, NotFound, Unreadable
from monitoring.gateway.wire import client_pool, fetch
from monitoring.gateway.wire.answers import ClusterAnswers
from monitoring.gateway.wire.cluster_client import ClusterClient
from monitoring.gateway.wire.fetch import FetchedRecords, Throttled
from monitoring.gateway.wire.metadata import Metadata

_LEADER_CHANGED = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.LEADER_NOT_AVAILABLE)
_LEADER_PAUSE_S = 0.2  # until the metadata has the new leader


class RecordFetcher:
    """Fetches from the leaders that it found last."""

    def __init__(self, settings: ClientSettings, topic: str) -> None:
        self._settings, self._topic = settings, topic
        self._taken: ClusterClient | None = None
        self.leaders: dict[int, tuple[str, int]] = {}
        """Partition → host and port of its leader; without partitions that have none."""

    @property
    def _client(self) -> ClusterClient:
        if self._taken is None:
            self._taken = client_pool.pool().take(self._settings)
        return self._taken

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

        A broker that delays the client by a quota is asked again, and after a change of the leader
        the new one. Raises GatewayError.
        """
        deadline_s = monotonic() + timeout_s
        failure: GatewayError = ClusterUnavailable(Reason("timed_out"))
        while (left_s := deadline_s - monotonic()) > 0:
            fetched = await self._fetch_once(partition, offset, max_bytes, left_s, wait_ms)
            if isinstance(fetched, Throttled):
                failure, pause_s = ClusterUnavailable(Reason("throttled")), fetched.seconds
            elif fetched.error in _LEADER_CHANGED:
                failure, pause_s = exception_of(fetched.error), _LEADER_PAUSE_S
            else:
                raise_if_error(fetched.error)
                return fetched
            await asyncio.sleep(min(pause_s, max(deadline_s - monotonic(), 0)))
            if isinstance(fetched, FetchedRecords) and monotonic() < deadline_s:
                await self.find_leaders(deadline_s - monotonic())
        raise failure

    async def _fetch_once(
        self, partition: int, offset: int, max_bytes: int, timeout_s: float, wait_ms: int
    ) -> FetchedRecords | Throttled:
        """One request. Raises GatewayError."""
        leader = self.leaders.get(partition)
        if leader is None:
            raise ClusterUnavailable(Reason("partition_no_leader"))
        channel = self._client.channel(leader)

        def build_frame(correlation_id: int) -> bytes:
            version = channel.version(fetch.API_KEY)
            return fetch.request(
                self._topic, partition, offset, max_bytes, wait_ms, version, correlation_id
            )

        answer = await channel.request(build_frame, timeout_s)
        try:
            return fetch.decode(answer, channel.version(fetch.API_KEY))
        except (KafkaError, ValueError, StructError) as error:
            raise Unreadable(Reason("does_not_parse", why=str(error))) from error

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

    async def close(self, *, is_reusable: bool = True) -> None:
        """End the use of the connections; close them unless all requests have ended."""
        client, self._taken = self._taken, None
        if client is None:
            return
        if is_reusable:
            client_pool.pool().give_back(self._settings, client)
        else:
            client.close()
