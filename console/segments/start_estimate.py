"""Starts estimates of what compaction would save of a partition, after checking rights.

An estimate shows only counts and sizes. Still, the user needs the right to read the records of the
topic: an estimate reads all of them, and the number of keys of an internal topic depends on groups
and topics that the user may not see.

A user for whom keys are masked gets no estimate: with the right to write they could write a guessed
key and see whether the number of keys grows. If other parts are masked, sizes are rounded, and the
saved share is left out, since it would be more exact than the sizes.
"""

from dataclasses import dataclass

from django.core.exceptions import PermissionDenied
from django.utils.translation import gettext as _

from console.accounts.principal import Principal
from console.records.masking_rules import mask_targets
from console.records.read_records import require_readable
from console.segments.compactable import CompactablePart, compactable_part
from console.segments.retention import SETTINGS, Retention
from console.segments.segment_source import source_of
from monitoring.error_reason import Reason
from monitoring.gateway import request_timeouts
from monitoring.gateway.errors import ClusterUnavailable, GatewayError, Refused
from monitoring.gateway.gateway import Gateway, for_cluster
from monitoring.models import Cluster
from monitoring.read_model.row_types import PartitionRow
from monitoring.records.compaction_search import CompactionRequest
from monitoring.records.search_process_client import RunningSearch


@dataclass(frozen=True, slots=True)
class Estimate:
    """A running estimate, which the caller stops; `part` is what it reads."""

    running: RunningSearch
    partition: int
    part: CompactablePart
    min_lag_ms: int
    is_masked: bool  # then sizes are rounded


def may_estimate(principal: Principal, cluster: Cluster, topic: str) -> bool:
    """Whether the user may have an estimate for a partition of the topic."""
    may_read = principal.may("record.read", cluster, topic)
    return may_read and "key" not in mask_targets(principal, cluster, topic)[0]


def start(principal: Principal, cluster: Cluster, row: PartitionRow, now_ms: int) -> Estimate:
    """An estimate of what compaction would save of the partition now.

    Raises PermissionDenied without the right to it, or GatewayError (unknown topic, topic that is
    not compacted, cluster down, too many searches).
    """
    require_readable(principal, cluster, row.topic)
    targets, _unmasked = mask_targets(principal, cluster, row.topic)
    if "key" in targets:
        raise PermissionDenied(_("The keys of these records are masked for you."))
    with for_cluster(cluster) as gateway:
        settings_of_topic = gateway.topics.describe_configs(row.topic, SETTINGS)
        retention = Retention.of({each.name: each.value for each in settings_of_topic})
        if not retention.is_compacted:
            raise Refused(_("The cleanup.policy of this topic does not include compact."))
        min_lag_ms = retention.min_compaction_lag_ms
        part = _part(gateway, row, min_lag_ms, now_ms)
        settings = gateway.kafka_client_settings
    spans = {row.partition: part.offsets}
    running = RunningSearch(CompactionRequest(settings, row.topic, spans, now_ms=now_ms))
    return Estimate(running, row.partition, part, min_lag_ms, is_masked=bool(targets))


def _part(gateway: Gateway, row: PartitionRow, min_lag_ms: int, now_ms: int) -> CompactablePart:
    """What is read; without a source (segment_source.py) the bounds of segments are not known."""
    log = gateway.wire.offset_ranges(row.topic, request_timeouts.READ_S).get(row.partition)
    if log is None:
        raise ClusterUnavailable(
            Reason("partition_unread", topic=row.topic, partition=row.partition)
        )
    try:
        answer = source_of(gateway, row).segments()
    except GatewayError:
        return compactable_part(
            log, segments=None, last_stable_offset=None, min_lag_ms=min_lag_ms, now_ms=now_ms
        )
    last_stable_offset = answer.get("last_stable_offset")
    return compactable_part(log, answer["segments"], last_stable_offset, min_lag_ms, now_ms)
