"""Kafka's admin client: the start and end offsets of logs, and the offsets of records at a time.

They are read from the leaders and not from a sample: a plan depends on them. librdkafka runs in a
separate process (librdkafka/log_offset_calls.py).
"""

from collections.abc import Iterable
from typing import Any

from monitoring.clusters.kafka_client_settings import ClientSettings
from monitoring.gateway import request_timeouts
from monitoring.gateway.librdkafka import workers
from monitoring.gateway.log_bounds import LogBounds
from monitoring.gateway.topic_partition import TopicPartition


class LogOffsets:
    """The offsets of logs of one cluster; each call opens new connections."""

    def __init__(self, settings: ClientSettings) -> None:
        """`settings` have their access token, if they need one."""
        self._settings = settings

    def ranges(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, range]:
        """The offsets from log start to end; without partitions whose leader did not answer."""
        found: dict[TopicPartition, range]
        found = self._call("log_ranges", list(partitions))
        return found

    def bounds(self, partition: TopicPartition) -> LogBounds | None:
        """The bounds of one log; None = its leader did not answer."""
        found: LogBounds | None = self._call("log_bounds", partition, requests=3)
        return found

    def at_time(
        self, partitions: Iterable[TopicPartition], at_ms: int
    ) -> dict[TopicPartition, int | None]:
        """The offset of the first record at or after a time; None = there is none. Without
        partitions whose leader did not answer."""
        found: dict[TopicPartition, int | None]
        found = self._call("log_offsets_at_time", list(partitions), at_ms)
        return found

    def _call(self, function: str, *arguments: Any, requests: int = 2) -> Any:
        timeout_s = request_timeouts.LOG_OFFSETS_READ_S
        limit_s = requests * timeout_s + request_timeouts.ADMIN_GRACE_S
        return workers.call(function, self._settings, timeout_s, *arguments, limit_s=limit_s)
