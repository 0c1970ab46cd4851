"""Reads records with masking: `read` a page of them, `read_row` and `read_shown` one of them.

These functions check the rights, mask the records, and write an audit entry when a user sees data
that a rule masks for others. Code that shows records must use them; a search, and so an export,
does the same in start_search.py.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from django.core.exceptions import PermissionDenied
from django.utils.translation import gettext as _

from console.accounts.error_texts import topic_not_found
from console.accounts.principal import Principal
from console.audit import write_entry as audit
from console.records import masking_rules
from console.records.batch_facts import BatchFacts, batch_facts
from console.records.display_options import DEFAULT, DisplayOptions
from console.records.shown_record import ShownRecord, shown_record
from monitoring.clusters import kafka_cluster_id
from monitoring.clusters.schema_registry_settings import RegistrySettings
from monitoring.encryption import SecretUnreadable
from monitoring.error_reason import Reason
from monitoring.gateway.errors import ClusterUnavailable, NotFound, Refused
from monitoring.gateway.gateway import for_cluster
from monitoring.gateway.record_pages import RecordPage, UnreadPartition
from monitoring.gateway.record_row import RecordRow
from monitoring.models import Cluster
from monitoring.records.decoders import internal_topics
from monitoring.records.mask_record import mask
from monitoring.schema_registry.record_decoder import for_registry


@dataclass(frozen=True, slots=True)
class RecordQuery:
    """Which records to read: from `offset` on, the newest before `before_offset`, or the newest."""

    topic: str
    partition: int | None = None
    offset: int | None = None
    limit: int = 50
    before_offset: int | None = None
    display: DisplayOptions = DEFAULT


@dataclass(frozen=True, slots=True)
class ReadResult:
    """The records, the partitions that could not be read, and the offsets for the next pages.

    `older_before` and `newer_offset` belong to `partition`: the arguments `before_offset` and
    `offset` of the next query.
    """

    records: list[ShownRecord]
    unread: tuple[UnreadPartition, ...] = ()
    partition: int | None = None
    older_before: int | None = None
    newer_offset: int | None = None


def read(principal: Principal, cluster: Cluster, query: RecordQuery) -> ReadResult:
    """Up to `query.limit` records, masked for `principal`: newest first, or forward from an offset.

    Raises PermissionDenied without the right to read the topic, or GatewayError (unknown topic,
    offset out of range, cluster down).
    """
    page, targets = _read_page(principal, cluster, query)
    records = [shown_record(query.topic, row, targets, query.display) for row in page.rows]
    return ReadResult(records, page.unread, page.partition, page.older_before, page.newer_offset)


def read_row(
    principal: Principal,
    cluster: Cluster,
    topic: str,
    partition: int,
    offset: int,
) -> RecordRow:
    """One complete record, masked for `principal`. Raises the same errors as `read`."""
    row, _targets = _read_masked(principal, cluster, topic, partition, offset)
    return row


def _read_masked(
    principal: Principal, cluster: Cluster, topic: str, partition: int, offset: int
) -> tuple[RecordRow, list[str]]:
    """One complete record, masked, and the masked targets."""
    query = RecordQuery(topic, partition, offset, limit=1)
    page, targets = _read_page(principal, cluster, query)
    for row in page.rows:
        if row.offset == offset:
            return mask(row, targets), targets
    if page.unread:
        raise ClusterUnavailable(Reason("partition_unread", topic=topic, partition=partition))
    raise NotFound(Reason("record_gone", topic=topic, partition=partition, offset=offset))


def read_shown(
    principal: Principal,
    cluster: Cluster,
    topic: str,
    partition: int,
    offset: int,
    display: DisplayOptions = DEFAULT,
) -> tuple[RecordRow, ShownRecord]:
    """One record, masked for `principal`, and as pages show it.

    Raises the same errors as `read`.
    """
    row, targets = _read_masked(principal, cluster, topic, partition, offset)
    return row, shown_record(topic, row, targets, display)


def read_batch_facts(
    principal: Principal, cluster: Cluster, topic: str, partition: int, offset: int
) -> BatchFacts | None:
    """The facts of the batch that holds a record; None = the broker returned none of format 2.

    Raises the same errors as `read`.
    """
    require_readable(principal, cluster, topic)
    with for_cluster(cluster) as gateway:
        header = gateway.wire.batch_header(topic, partition, offset)
    masked = masking_rules.is_masked(principal, cluster, topic)
    return None if header is None else batch_facts(header, is_masked=masked)


def _read_page(
    principal: Principal, cluster: Cluster, query: RecordQuery
) -> tuple[RecordPage, list[str]]:
    """The records before masking, and the targets to mask."""
    require_readable(principal, cluster, query.topic)
    with for_cluster(cluster) as gateway:
        # The masking rules of other entries with this cluster id also apply, so it must be known.
        if not cluster.kafka_cluster_id:
            kafka_cluster_id.record(cluster, gateway.wire.cluster_id())
        page = gateway.record_pages.read(
            query.topic, query.partition, query.offset, query.limit,
            before_offset=query.before_offset,
        )  # fmt: skip
    registry = registry_of(cluster, query.topic)
    if registry is not None:
        decoder = for_registry(registry)
        page = replace(page, rows=tuple(map(decoder.decode, page.rows)))
    targets, unmasked = masking_rules.mask_targets(principal, cluster, query.topic)
    if unmasked and page.rows:
        details = {"uncovered": ", ".join(unmasked)} | _offsets(page.rows)
        audit.record_by(principal, "record.unmask", cluster.slug, query.topic, after=details)
    return page, targets


def require_readable(principal: Principal, cluster: Cluster, topic: str) -> None:
    """Raises PermissionDenied or NotFound without the right to read the records of the topic."""
    rights = principal.rights(cluster)
    # 404, not 403: who may read records does not learn which topics are outside of their scope.
    if rights.may("record.read") and not rights.shows("record.read", topic):
        raise NotFound(topic_not_found(topic))
    if not rights.may("record.read", topic):
        raise PermissionDenied(_("Your role does not include reading the records of this topic."))


def registry_of(cluster: Cluster, topic: str) -> RegistrySettings | None:
    """The schema registry for the records of a topic, if there is one. Raises Refused."""
    if topic in internal_topics.TOPICS:  # they have a format of their own
        return None
    try:
        return cluster.registry()
    except SecretUnreadable as error:
        raise Refused(Reason("settings_unreadable", why=error.reason)) from error


def _offsets(rows: Iterable[RecordRow]) -> dict[str, str]:
    """The offsets of these records by partition, for the audit log."""
    by_partition: dict[int, list[int]] = {}
    for row in rows:
        by_partition.setdefault(row.partition, []).append(row.offset)
    return {
        f"partition {number}": f"offsets {min(offsets)} to {max(offsets)}, {len(offsets)} records"
        for number, offsets in sorted(by_partition.items())
    }
