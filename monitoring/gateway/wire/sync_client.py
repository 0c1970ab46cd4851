"""Synchronous requests of the project's own client. Metadata is read with a new connection.

Sampling has its own reader (monitoring/sampling/sample_reader.py), and pages read the samples. This
is for reads that need the cluster's current state, for example whether an address answers.
"""

from collections.abc import Sequence
from contextlib import closing
from functools import partial

from brokerd.errors import KafkaError
from brokerd.protocol.records import BatchHeader
from monitoring.clusters.kafka_client_settings import ClientSettings
from monitoring.error_reason import Reason
from monitoring.gateway import event_loop, request_timeouts
from monitoring.gateway.error_codes import exception_of_group_change
from monitoring.gateway.errors import ClusterUnavailable, Unreadable
from monitoring.gateway.topic_partition import TopicPartition
from monitoring.gateway.wire import fetch, offset_delete
from monitoring.gateway.wire.cluster_client import ClusterClient
from monitoring.gateway.wire.metadata import ALL_TOPICS, TOPIC_LENGTH_MAX, Metadata
from monitoring.gateway.wire.record_fetcher import RecordFetcher

_GRACE_S = 0.5  # for the work after the last response


class SyncClient:
    """Reads metadata, offsets and batch headers of one cluster, and deletes commits."""

    def __init__(self, settings: ClientSettings) -> None:
        self._settings = settings

    def metadata(self) -> Metadata:
        """Brokers, topics, leaders, replicas. Raises GatewayError within 5 seconds."""
        return self._metadata_of(ALL_TOPICS)

    def cluster_id(self) -> str:
        """The cluster id that the brokers report; empty if they report none.

        Raises GatewayError within 5 seconds.
        """
        return self._metadata_of(topics=[]).cluster_id

    def has_topic(self, name: str) -> bool:
        """Whether the cluster has this topic now. Raises GatewayError within 5 seconds."""
        if len(name.encode()) > TOPIC_LENGTH_MAX:
            return False
        # A topic that does not exist has an error and no partitions.
        return bool(self._metadata_of([name]).rows_by_topic.get(name))

    def offset_ranges(self, topic: str, timeout_s: float) -> dict[int, range]:
        """Partition → its offsets, from log start to end; without partitions whose leader did not
        answer.

        Raises NotFound without such a topic, ClusterUnavailable after `timeout_s`.
        """
        return event_loop.run_requests(
            self._read_offset_ranges(topic, timeout_s), timeout_s + _GRACE_S
        )

    def batch_header(self, topic: str, partition: int, offset: int) -> BatchHeader | None:
        """The header of the batch that holds an offset; None = no batch of format version 2 does.

        The broker sends the whole batch, once. Raises GatewayError within 10 seconds.
        """
        # Brokers send the first batch whole, whatever the limit: with one byte only this batch.
        return fetch.batch_header_at(self._fetch(topic, partition, offset, max_bytes=1), offset)

    def batch_headers(
        self, topic: str, partition: int, offset: int, max_bytes: int
    ) -> list[BatchHeader]:
        """The headers of the batches of format version 2 from the one that holds `offset` on: of
        about `max_bytes`, but at least of one batch. Raises GatewayError within 10 seconds."""
        return fetch.batch_headers(self._fetch(topic, partition, offset, max_bytes))

    def _fetch(self, topic: str, partition: int, offset: int, max_bytes: int) -> memoryview:
        """The batches of a Fetch response."""
        return event_loop.run_requests(
            self._read_batches(topic, partition, offset, max_bytes), 2 * request_timeouts.READ_S
        )

    def delete_offsets(
        self, group: str, partitions: Sequence[TopicPartition]
    ) -> dict[TopicPartition, str]:
        """Delete commits of a group; returns the errors. Raises GatewayError if all are refused."""
        try:
            return event_loop.run_requests(
                self._delete_offsets(group, partitions), 3 * request_timeouts.READ_S
            )
        except KafkaError as error:
            raise Unreadable(Reason("does_not_parse", why=str(error))) from error

    def _metadata_of(self, topics: Sequence[str] | None) -> Metadata:
        try:
            return event_loop.run(self._read_metadata(topics), request_timeouts.READ_S)
        except TimeoutError as error:
            reason = Reason("no_answer_in_time", seconds=f"{request_timeouts.READ_S:.0f}")
            raise ClusterUnavailable(reason) from error

    async def _read_metadata(self, topics: Sequence[str] | None) -> Metadata:
        with closing(ClusterClient(self._settings)) as client:
            return await client.read_metadata(request_timeouts.READ_S / 2, topics)

    async def _read_batches(
        self, topic: str, partition: int, offset: int, max_bytes: int
    ) -> memoryview:
        fetcher = RecordFetcher(self._settings, topic)
        try:
            await fetcher.find_leaders(request_timeouts.READ_S / 2)
            fetched = await fetcher.fetch(partition, offset, max_bytes, request_timeouts.READ_S)
        finally:
            await fetcher.close()
        return fetched.records

    async def _delete_offsets(
        self, group: str, partitions: Sequence[TopicPartition]
    ) -> dict[TopicPartition, str]:
        with closing(ClusterClient(self._settings)) as client:
            brokers = (await client.read_metadata(request_timeouts.READ_S / 2, topics=[])).brokers
            answer = await client.channel((brokers[0].host, brokers[0].port)).request(
                partial(offset_delete.coordinator_request, group), request_timeouts.READ_S
            )
            code, host, port = offset_delete.decode_coordinator(answer)
            if code:
                raise ClusterUnavailable(Reason("no_coordinator", error=code))
            answer = await client.channel((host, port)).request(
                partial(offset_delete.delete_request, group, partitions), request_timeouts.READ_S
            )
        code, codes = offset_delete.decode_delete(answer)
        if code:
            raise exception_of_group_change(code)
        return {
            key: exception_of_group_change(found).message for key, found in codes.items() if found
        }

    async def _read_offset_ranges(self, topic: str, timeout_s: float) -> dict[int, range]:
        fetcher = RecordFetcher(self._settings, topic)
        try:
            metadata = await fetcher.find_leaders(timeout_s / 2)
            return await fetcher.offset_ranges(metadata, timeout_s / 2)
        finally:
            await fetcher.close()
