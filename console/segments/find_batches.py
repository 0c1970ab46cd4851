"""Finds the batch that holds an offset or a time: from brokerd with the steps of the search, from
other brokers with a Fetch."""

from dataclasses import replace
from functools import partial

from django.core.exceptions import PermissionDenied
from django.utils.translation import gettext as _

from console.accounts.principal import Principal
from console.records.batch_facts import BatchFacts, batch_facts
from console.records.masking_rules import is_masked
from console.segments import lookup
from console.segments.lookup import LookUp, OffsetNotFound
from console.segments.segment_page import PAGE_SIZE
from monitoring.gateway.brokerd_admin import BrokerdAdmin
from monitoring.gateway.errors import ClusterUnavailable, GatewayError
from monitoring.gateway.gateway import Gateway, for_cluster
from monitoring.models import Cluster
from monitoring.read_model.row_types import PartitionRow
from monitoring.reasons import Reason

_NEWEST_OFFSETS = 1000  # the newest batches are looked for in so many offsets
_FETCH_BYTES = 1 << 20


def fetch_batches(
    principal: Principal, cluster: Cluster, row: PartitionRow, offset: int | None, at_ms: int | None
) -> list[BatchFacts]:
    """At most a page of batches, oldest first.

    The first batch holds `offset`, or the first record at or after `at_ms`; if both are None, the
    page has the newest batches.

    Raises OffsetNotFound or GatewayError.
    """
    masked, key = is_masked(principal, cluster, row.topic), (row.topic, row.partition)
    with for_cluster(cluster) as gateway:
        log = gateway.log_offsets.ranges([key]).get(key)
        if log is None:
            raise ClusterUnavailable(Reason("partition_no_leader"))
        start = offset if at_ms is None else _offset_at(gateway, row, at_ms)
        if start is not None:
            lookup.check_offset(start, log.start, log.stop)
        if not log:
            return []
        first = max(log.start, log.stop - _NEWEST_OFFSETS) if start is None else start
        headers = gateway.wire.batch_headers(*key, first, _FETCH_BYTES)
    page = headers[-PAGE_SIZE:] if start is None else headers[:PAGE_SIZE]
    return [batch_facts(header, is_masked=masked) for header in page]


def _offset_at(gateway: Gateway, row: PartitionRow, at_ms: int) -> int:
    """The offset of the first record at or after a time. Raises OffsetNotFound."""
    key = (row.topic, row.partition)
    found = gateway.log_offsets.at_time([key], at_ms)
    if key not in found:
        raise ClusterUnavailable(Reason("partition_no_leader"))
    offset = found[key]
    if offset is None:
        raise OffsetNotFound
    return offset


def look_up(
    principal: Principal, cluster: Cluster, row: PartitionRow, offset: int | None, at_ms: int | None
) -> LookUp:
    """How the record at an offset, or the first one at or after a time, is found.

    Raises OffsetNotFound or GatewayError, or PermissionDenied for users who see masked records:
    positions reveal the sizes of batches.
    """
    if is_masked(principal, cluster, row.topic):
        raise PermissionDenied(_("Parts of these records are masked for you."))
    where = (row.leader, row.topic, row.partition)
    with for_cluster(cluster) as gateway:
        if offset is None:
            offset = _offset_at(gateway, row, at_ms or 0)
        admin = gateway.brokerd_admin
        answer = admin.segments(*where)
        segments = answer["segments"]
        if not segments:
            raise OffsetNotFound
        first, end = segments[0]["base_offset"], segments[-1]["next_offset"]
        lookup.check_offset(offset, answer.get("log_start_offset", first), end)
        steps = lookup.look_up(
            offset,
            segments,
            partial(admin.index, *where),
            partial(admin.batches, *where),
            at_ms,
        )
        return replace(steps, took_ms=_look_up_ms(admin, where, offset))


def _look_up_ms(admin: BrokerdAdmin, where: tuple[int, str, int], offset: int) -> float | None:
    """How long the broker takes to find the offset; None if it does not say."""
    try:
        took_us: float = admin.look_up(*where, offset)["took_us"]
    except GatewayError:  # an older broker
        return None
    return took_us / 1000
