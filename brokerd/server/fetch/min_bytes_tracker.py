"""Counts the bytes of all partitions for a delayed Fetch with `min_bytes` above 1: an append must
not cost a read of its thousands of partitions."""

from collections.abc import Collection

from brokerd.protocol.fetch_request import READ_COMMITTED, FetchRequest
from brokerd.replication.partition import Partition
from brokerd.server.fetch.fetch_session_cache import FetchContext
from brokerd.server.fetch.read_from_log import ENOUGH, FILES_MAX, FetchAttempt, bytes_now
from brokerd.server.requests.leader_check import LedPartitions


class MinBytesTracker:
    """The bytes that the last attempt found, and those appended since."""

    __slots__ = (
        "_available_bytes",
        "_committed",
        "_fetch",
        "_least",
        "_led",
        "_total",
        "partitions",
    )

    def __init__(
        self, led: LedPartitions, request: FetchRequest, fetch: FetchContext, attempt: FetchAttempt
    ) -> None:
        self._led = led
        self._committed = request.isolation_level == READ_COMMITTED
        self._fetch = fetch
        self.partitions = attempt.partitions
        self._least = attempt.min_bytes
        self._available_bytes = attempt.available_bytes
        self._total = sum(attempt.available_bytes.values())

    def is_worth_an_attempt(self, moved: Collection[Partition]) -> bool:
        """Whether to make another attempt now that these partitions moved: there are enough bytes,
        or an error is to be answered, or there are so many files that they must be released."""
        there = self._available_bytes
        for partition in moved:
            wanted = self.partitions.get(partition) or self._fetch.wanted_of(partition)
            if wanted is None:
                return True
            now = bytes_now(self._led, partition, wanted, committed=self._committed)
            if now >= ENOUGH:
                return True
            self._total += now - there.pop(partition, 0)
            if now:
                there[partition] = now
        return self._total >= self._least or len(there) > FILES_MAX
