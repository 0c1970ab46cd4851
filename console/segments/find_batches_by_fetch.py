"""Finds the batch that holds an offset or a time with a Fetch, for brokers other than brokerd."""

from dataclasses import dataclass

from brokerd.protocol.records import BatchHeader
from console.accounts.principal import Principal
from console.records.batch_facts import BatchFacts, batch_facts
from console.records.masking_rules import is_masked
from console.segments.looked_up_offset import check_offset, offset_at
from console.segments.segment_content import PAGE_SIZE
from monitoring.error_reason import Reason
from monitoring.gateway.errors import ClusterUnavailable
from monitoring.gateway.gateway import Gateway, for_cluster
from monitoring.models import Cluster
from monitoring.read_model.row_types import PartitionRow

# The newest batches are looked for in so many offsets; in fewer, if a Fetch of those does not reach
# the newest batch.
_NEWEST_OFFSETS = (1000, 100, 10, 1)
_FETCH_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class FetchedBatches:
    """Some batches in the order of the log, and the offsets of the log."""

    batches: list[BatchFacts]
    log: range

    @property
    def first(self) -> int:
        return self.batches[0].base_offset

    @property
    def last(self) -> int:
        return self.batches[-1].last_offset

    @property
    def later_offset(self) -> int | None:
        """Where the later batches begin; None if there are none."""
        end = self.last + 1
        return end if end < self.log.stop else None


def fetch_batches(
    principal: Principal, cluster: Cluster, row: PartitionRow, offset: int | None, at_ms: int | None
) -> FetchedBatches:
    """At most a page of batches.

    The first batch holds `offset`, or the first record at or after `at_ms`; if both are None, the
    page has the newest batches.

    Raises OffsetNotFound or GatewayError.
    """
    masked, key = is_masked(principal, cluster, row.topic), (row.topic, row.partition)
    with for_cluster(cluster) as gateway:
        log = gateway.log_offsets.ranges([key]).get(key)
        if log is None:
            raise ClusterUnavailable(Reason("partition_no_leader"))
        start = offset if at_ms is None else offset_at(gateway, row, at_ms)
        if start is not None:
            check_offset(start, log.start, log.stop)
        if not log:
            return FetchedBatches([], log)
        if start is None:
            page = _newest(gateway, row, log)[-PAGE_SIZE:]
        else:
            page = gateway.wire.batch_headers(*key, start, _FETCH_BYTES)[:PAGE_SIZE]
    return FetchedBatches([batch_facts(header, is_masked=masked) for header in page], log)


def _newest(gateway: Gateway, row: PartitionRow, log: range) -> list[BatchHeader]:
    """The headers of the newest batches that one Fetch returns."""
    headers: list[BatchHeader] = []
    for count in _NEWEST_OFFSETS:
        first = max(log.start, log.stop - count)
        headers = gateway.wire.batch_headers(row.topic, row.partition, first, _FETCH_BYTES)
        if headers and headers[-1].last_offset + 1 >= log.stop:
            break
    return headers
