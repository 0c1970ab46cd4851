"""The one door through which records leave the system: `read(principal, …)`.

It asks for the right first and masks before anything else sees a record. Browse uses it today;
whatever shows, exports or searches records later has to come through here too.
"""

from dataclasses import dataclass
from typing import Any

from django.core.exceptions import PermissionDenied
from django.utils.translation import gettext as _

from console.accounts import rights
from console.messages.decode import Decoded, decode
from console.messages.masking import COVER, COVER_BYTES, mask
from console.messages.models import MaskingRule
from monitoring.gateway.browse import RecordRow, Unread
from monitoring.gateway.gateway import for_cluster
from monitoring.models import Cluster

COVERED = Decoded("covered", COVER, 0, preview=COVER)


@dataclass(frozen=True, slots=True)
class Query:
    """Which records: from `offset` of `partition` upwards, or the newest (offset None)."""

    topic: str
    partition: int | None = None
    offset: int | None = None
    limit: int = 50


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
    """What a read brought, and the partitions that are missing in it."""

    records: list[ShownRecord]
    unread: tuple[Unread, ...] = ()


def read(principal: Any, cluster: Cluster, query: Query) -> Shown:
    """Up to `query.limit` records, newest first, masked for `principal`.

    Raises PermissionDenied without the right to read the topic, GatewayError where the cluster
    does not answer as asked (unknown topic, offset out of range, cluster down).
    """
    held = rights.of(principal, cluster)
    if not held.may("record.read", query.topic):
        raise PermissionDenied(_("Your role does not include reading the records of this topic."))
    with for_cluster(cluster) as gateway:
        portion = gateway.browse.read(query.topic, query.partition, query.offset, query.limit)
    targets = [] if held.may("record.unmask", query.topic) else _targets(cluster, query.topic)
    records = [_shown(mask(row, targets), bool(targets)) for row in portion.rows]
    return Shown(records, portion.unread)


def _targets(cluster: Cluster, topic: str) -> list[str]:
    rules = MaskingRule.objects.filter(cluster=cluster)
    return [rule.target for rule in rules if rule.covers(topic)]


def _shown(record: RecordRow, is_masked: bool) -> ShownRecord:
    def part(data: bytes | None) -> Decoded:
        # Its size would be that of the cover, and would be taken for the data's.
        return COVERED if is_masked and data == COVER_BYTES else decode(data)

    return ShownRecord(
        record.partition,
        record.offset,
        record.timestamp_ms,
        part(record.key),
        part(record.value),
        tuple((name, part(value)) for name, value in record.headers),
    )
