"""Plans to copy records: chooses the offsets of each partition."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from console.accounts.principal import Principal
from console.actions import services as plans
from console.actions.draft import PlanRefused, refuse_unread_partitions
from console.actions.models import Plan
from console.produce.actions.copy_records import CopyRecords, check_source
from console.records import masking_rules
from console.topics.changeable_topics import why_not_writable
from monitoring.gateway.gateway import Gateway, for_cluster
from monitoring.models import Cluster

RECORDS_MAX = 100_000


@dataclass(frozen=True, slots=True)
class RangesToCopy:
    """Which records to copy: all, of a range of time, or of `ranges`; at most `records_max`.

    Attributes:
        to, to_cluster: the topic that gets them, and its cluster (None = the same).
        ranges: partition → offsets; empty = all.
    """

    topic: str
    to: str
    records_max: int = RECORDS_MAX
    keeps_partitions: bool = True
    since_ms: int | None = None
    until_ms: int | None = None
    ranges: Mapping[int, range] = field(default_factory=dict)
    to_cluster: Cluster | None = None


def clusters_to_copy_to(principal: Principal, cluster: Cluster) -> list[Cluster]:
    """The other clusters to which the user may write."""
    others = Cluster.objects.filter(read_only=False).exclude(pk=cluster.pk)
    return [each for each in others if principal.may("record.write", each)]


def propose_copy(principal: Principal, cluster: Cluster, chosen: RangesToCopy) -> Plan:
    """Plan to copy records. Raises PlanRefused or GatewayError."""
    target = chosen.to_cluster or cluster
    is_to_other_cluster = target.pk != cluster.pk
    if chosen.to == chosen.topic and (not is_to_other_cluster or _is_same_cluster(cluster, target)):
        raise PlanRefused(_("Choose another topic: this one is the topic that is copied."))
    if reason := why_not_writable(target, chosen.to):
        raise PlanRefused(reason)
    params = {
        "name": chosen.topic,
        "to": chosen.to,
        "to_cluster": target.slug,
        "copy": str(uuid.uuid4()),
        "user": principal.user.pk,
        "cluster": cluster.slug,
    }
    check_source(params)
    with for_cluster(cluster) as gateway:
        spans = limit_spans(_spans(gateway, chosen), chosen.records_max)
    if not spans:
        raise PlanRefused(_("There are no records to copy there."))
    params |= {
        "spans": {str(number): [span.start, span.stop] for number, span in spans.items()},
        "keeps_partitions": chosen.keeps_partitions,
        "count": sum(map(len, spans.values())),
        "exposed": _exposed(principal, cluster, chosen),
    }
    resource = chosen.to if is_to_other_cluster else chosen.topic
    return plans.propose(principal, target, CopyRecords.action, resource, params)


def _is_same_cluster(cluster: Cluster, other: Cluster) -> bool:
    """Whether two entries lead to one Kafka cluster. Raises GatewayError."""
    with for_cluster(cluster) as one, for_cluster(other) as two:
        return one.wire.cluster_id() == two.wire.cluster_id()


def _exposed(principal: Principal, cluster: Cluster, chosen: RangesToCopy) -> list[str]:
    """The parts that the user sees and that more others would see in the target."""
    _masked, unmasked = masking_rules.mask_targets(principal, cluster, chosen.topic)
    target = (chosen.to_cluster or cluster, chosen.to)
    return masking_rules.exposed_targets(unmasked, (cluster, chosen.topic), target)


def limit_spans(spans: Mapping[int, range], records_max: int) -> dict[int, range]:
    """The first offsets of each partition, at most `records_max` in all, shared fairly; pure."""
    left, shares = records_max, {}
    by_length = sorted(spans.items(), key=lambda item: len(item[1]))
    for index, (number, span) in enumerate(by_length):
        share = min(len(span), left // (len(by_length) - index))
        left -= share
        shares[number] = span[:share]
    return {number: span for number, span in sorted(shares.items()) if span}


def _spans(gateway: Gateway, chosen: RangesToCopy) -> dict[int, range]:
    """Partition → the offsets that are there. Raises PlanRefused or GatewayError."""
    count = len(gateway.topics.describe_topic(chosen.topic).partitions)
    if unknown := [number for number in chosen.ranges if number >= count]:
        raise PlanRefused(_("There is no partition %(name)s.") % {"name": unknown[0]})
    keys = [(chosen.topic, number) for number in chosen.ranges or range(count)]
    logs = gateway.log_offsets.ranges(keys)
    refuse_unread_partitions(str(key[1]) for key in keys if key not in logs)
    spans = {number: logs[(topic, number)] for topic, number in keys}
    for number, wanted in chosen.ranges.items():
        log = spans[number]
        spans[number] = range(max(log.start, wanted.start), min(log.stop, wanted.stop))
    if chosen.since_ms is not None:
        for number, offset in _offsets_at(gateway, keys, chosen.since_ms, spans).items():
            spans[number] = range(offset, spans[number].stop)
    if chosen.until_ms is not None:
        for number, offset in _offsets_at(gateway, keys, chosen.until_ms, spans).items():
            spans[number] = range(spans[number].start, offset)
    return {number: span for number, span in spans.items() if span}


def _offsets_at(
    gateway: Gateway, keys: list[tuple[str, int]], at_ms: int, spans: Mapping[int, range]
) -> dict[int, int]:
    """Partition → the offset of its first record at or after a time, or its end."""
    found = gateway.log_offsets.at_time(keys, at_ms)
    refuse_unread_partitions(str(key[1]) for key in keys if key not in found)
    return {
        number: spans[number].stop if offset is None else offset
        for (_topic, number), offset in found.items()
    }
