"""Starts searches over the records of a topic, with rights, masking and audit."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from console.accounts.principal import Principal
from console.audit import write_entry as audit
from console.records import masking_rules, read_records
from monitoring.error_reason import Reason
from monitoring.gateway import request_timeouts
from monitoring.gateway.errors import ClusterUnavailable
from monitoring.gateway.gateway import Gateway, for_cluster
from monitoring.models import Cluster
from monitoring.records.filters import Condition
from monitoring.records.search_limits import FOLLOW_SECONDS_MAX, ExportLimits
from monitoring.records.search_process_client import RunningSearch
from monitoring.records.search_request import SearchRequest


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """Which records to find; times in ms since 1970.

    `until_ms` and `end_offset` are excluded; the offsets are those of each partition.
    """

    topic: str
    partition: int | None = None
    conditions: tuple[Condition, ...] = ()
    expression: str = ""
    since_ms: int | None = None
    until_ms: int | None = None
    first_offset: int | None = None
    end_offset: int | None = None
    newest_first: bool = True
    matches_max: int = 100
    follows: bool = False
    positions: Mapping[int, int] = field(default_factory=dict)  # partition → where to begin


def start(
    principal: Principal,
    cluster: Cluster,
    query: SearchQuery,
    export: ExportLimits | None = None,
) -> RunningSearch:
    """A running search, which the caller stops. It ends at the offsets that are the end now, or
    with `query.follows` it searches the records that are written from now on.

    Raises PermissionDenied without the right to read the topic, FilterInvalid, or GatewayError
    (unknown topic, cluster down, too many searches).
    """
    read_records.require_readable(principal, cluster, query.topic)
    if export:
        query = replace(query, follows=False, newest_first=False)
    masked, unmasked = masking_rules.mask_targets(principal, cluster, query.topic)
    with for_cluster(cluster) as gateway:
        request = SearchRequest(
            gateway.kafka_client_settings,
            query.topic,
            _spans(gateway, query),
            query.conditions,
            query.expression,
            query.newest_first,
            query.matches_max,
            masked=tuple(masked),
            follows=query.follows,
            follows_new_partitions=query.partition is None,
            registry=read_records.registry_of(cluster, query.topic),
        )
    if query.follows:
        request = replace(request, seconds_max=FOLLOW_SECONDS_MAX)
    if export:
        request = replace(
            request,
            is_export=True,
            matches_max=export.records,
            matched_bytes_max=export.size_bytes,
            seconds_max=export.seconds,
        )
    if unmasked:
        details = {"uncovered": ", ".join(unmasked), "search": "all records that match"}
        audit.record_by(principal, "record.unmask", cluster.slug, query.topic, after=details)
    return RunningSearch(request)


def _spans(gateway: Gateway, query: SearchQuery) -> dict[int, range]:
    """Partition → the offsets to search. Raises GatewayError."""
    spans = gateway.wire.offset_ranges(query.topic, request_timeouts.READ_S)
    if query.partition is not None:
        if query.partition not in spans:
            raise ClusterUnavailable(
                Reason("partition_unread", topic=query.topic, partition=query.partition)
            )
        spans = {query.partition: spans[query.partition]}
    if query.since_ms is not None:
        starts = _offsets_at(gateway, query.topic, spans, query.since_ms)
        spans = {number: range(starts[number], spans[number].stop) for number in starts}
    if query.until_ms is not None:
        ends = _offsets_at(gateway, query.topic, spans, query.until_ms)
        spans = {number: range(spans[number].start, ends[number]) for number in ends}
    if (query.first_offset, query.end_offset) != (None, None):
        spans = {number: _clipped(span, query) for number, span in spans.items()}
    if query.positions:
        spans = {
            number: range(max(span.start, query.positions.get(number, 0)), span.stop)
            for number, span in spans.items()
        }
    if query.follows:
        spans = {number: range(span.stop, span.stop) for number, span in spans.items()}
    return spans


def _clipped(span: range, query: SearchQuery) -> range:
    """The offsets of a partition that are in the range of offsets, too."""
    end = span.stop if query.end_offset is None else min(span.stop, query.end_offset)
    return range(min(max(span.start, query.first_offset or 0), end), end)


def _offsets_at(
    gateway: Gateway, topic: str, spans: dict[int, range], at_ms: int
) -> dict[int, int]:
    """Partition → the offset of its first record at or after a time, or its end."""
    found = gateway.log_offsets.at_time([(topic, number) for number in spans], at_ms)
    return {
        number: spans[number].stop if offset is None else offset
        for (_topic, number), offset in found.items()
    }
