"""The one door through which records leave the system: `read(principal, …)` and `read_whole`.

It asks for the right first and masks before anything else sees a record, and writes down who was
shown what a rule masks. Browse and downloads use it; whatever shows, exports or searches records
later has to come through here too.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from django.core.exceptions import PermissionDenied
from django.utils.translation import gettext as _

from console.accounts.rights import may, rights_of
from console.audit import services as audit
from console.messages.decode import Decoded, decode
from console.messages.masking import MASK, MASK_BYTES, coarse, mask
from console.messages.models import MaskingRule
from monitoring import identity
from monitoring.gateway.browse import RecordPage, UnreadPartition
from monitoring.gateway.errors import ClusterUnavailable, NotFound
from monitoring.gateway.gateway import for_cluster
from monitoring.gateway.records import RecordRow
from monitoring.models import Cluster
from monitoring.reasons import Reason
from monitoring.scope import Scope

MASKED = Decoded("masked", MASK, 0, preview=MASK)


@dataclass(frozen=True, slots=True)
class Query:
    """Which records: of `partition` from `offset` upwards or the newest below `before`; else the
    newest."""

    topic: str
    partition: int | None = None
    offset: int | None = None
    limit: int = 50
    before: int | None = None


@dataclass(frozen=True, slots=True)
class ShownRecord:
    """A record after masking and decoding."""

    partition: int
    offset: int
    timestamp_ms: int | None
    key: Decoded
    value: Decoded
    headers: tuple[tuple[str, Decoded], ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """What a read brought, the partitions that are missing in it, and where to read on.

    `older` and `newer` are of `partition`: `before` and `offset` of the next query.
    """

    records: list[ShownRecord]
    unread: tuple[UnreadPartition, ...] = ()
    partition: int | None = None
    older: int | None = None
    newer: int | None = None


def read(principal: Any, cluster: Cluster, query: Query, remote_addr: str = "") -> Shown:
    """Up to `query.limit` records, masked for `principal`: newest first, or from an offset upwards.

    Raises PermissionDenied without the right to read the topic, GatewayError where the cluster
    does not answer as asked (unknown topic, offset out of range, cluster down).
    """
    portion, targets = _read(principal, cluster, query, remote_addr)
    records = [_shown(row, targets) for row in portion.rows]
    return Shown(records, portion.unread, portion.partition, portion.older, portion.newer)


def read_whole(
    principal: Any,
    cluster: Cluster,
    topic: str,
    partition: int,
    offset: int,
    remote_addr: str = "",
) -> RecordRow:
    """One record in full length, masked for `principal`. Raises as `read` does."""
    query = Query(topic, partition, offset, 1)
    portion, targets = _read(principal, cluster, query, remote_addr)
    for row in portion.rows:
        if row.offset == offset:
            return mask(row, targets)
    for gap in portion.unread:
        raise ClusterUnavailable(Reason("partition_unread", topic=topic, partition=gap.partition))
    raise NotFound(Reason("record_gone", topic=topic, partition=partition, offset=offset))


def _read(
    principal: Any, cluster: Cluster, query: Query, remote_addr: str
) -> tuple[RecordPage, list[str]]:
    """The records, not masked yet, and what is to be masked in them."""
    rights = rights_of(principal, cluster)
    if not rights.may("record.read", query.topic):
        raise PermissionDenied(_("Your role does not include reading the records of this topic."))
    with for_cluster(cluster) as gateway:
        if not cluster.kafka_cluster_id:  # an entry that was not sampled yet
            identity.record(cluster, gateway.wire.cluster_id())
        portion = gateway.browse.read(
            query.topic, query.partition, query.offset, query.limit, before=query.before
        )
    targets, lifted = _targets(principal, cluster, query.topic)
    if lifted and portion.rows:
        told = {"uncovered": ", ".join(lifted)} | _offsets(portion.rows)
        audit.record(principal, "record.unmask", cluster.slug, query.topic, {}, told, remote_addr)
    return portion, targets


def is_masked(principal: Any, cluster: Cluster, topic: str) -> bool:
    """Whether parts of the topic's records are masked for `principal`."""
    return bool(_targets(principal, cluster, topic)[0])


def rules_for(cluster: Cluster) -> list[MaskingRule]:
    """The rules that hold for a cluster, by whichever of its entries they were made."""
    entries = [cluster, *identity.others(cluster)]
    return list(MaskingRule.objects.filter(cluster__in=entries).select_related("cluster"))


def rules_within(cluster: Cluster, scope: Scope) -> list[MaskingRule]:
    """Those of them that are about nothing outside the scope."""
    return [rule for rule in rules_for(cluster) if scope.shows_topics_of(rule.topic_pattern)]


def hand_over(cluster: Cluster) -> None:
    """The rules of an entry that is about to go stay with another entry of the same cluster."""
    for heir in identity.others(cluster)[:1]:
        for rule in MaskingRule.objects.filter(cluster=cluster):
            MaskingRule.objects.get_or_create(
                cluster=heir, topic_pattern=rule.topic_pattern, target=rule.target
            )


def _targets(principal: Any, cluster: Cluster, topic: str) -> tuple[list[str], list[str]]:
    """What is masked for `principal`, and what is shown although a rule masks it for others.

    Who may lift a rule is asked where it was made.
    """
    masked: set[str] = set()
    lifted: set[str] = set()
    for rule in rules_for(cluster):
        if rule.masks(topic):
            is_lifted = may(principal, "record.unmask", rule.cluster, topic)
            (lifted if is_lifted else masked).add(rule.target)
    return sorted(masked), sorted(lifted - masked)


def _offsets(rows: Iterable[RecordRow]) -> dict[str, str]:
    """Which records these are, by partition, for the audit log."""
    found: dict[int, list[int]] = {}
    for row in rows:
        found.setdefault(row.partition, []).append(row.offset)
    return {
        f"partition {number}": f"offsets {min(at)} to {max(at)}, {len(at)} records"
        for number, at in sorted(found.items())
    }


def _shown(record: RecordRow, targets: list[str]) -> ShownRecord:
    def part(whole: bytes | None, data: bytes | None) -> Decoded:
        if not targets or whole is None:
            return decode(data)
        # Its size would be that of the cover, and would be taken for the data's.
        if data == MASK_BYTES:
            return MASKED
        return replace(decode(data), size_bytes=coarse(len(whole)), is_coarse=True)

    masked = mask(record, targets)
    headers = zip(record.headers, masked.headers, strict=True)
    return ShownRecord(
        record.partition,
        record.offset,
        record.timestamp_ms,
        part(record.key, masked.key),
        part(record.value, masked.value),
        tuple((name, part(whole, data)) for (name, whole), (_name, data) in headers),
    )
