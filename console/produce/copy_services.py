"""Plans to copy records: which offsets of which partitions, as they are now."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from console.accounts.principal import Principal
from console.actions import services as actions
from console.actions.draft import PlanRefused
from console.actions.models import Plan
from console.produce.copy_records import CopyRecords, check_source
from console.produce.target import write_refusal
from console.records import services as records
from monitoring.gateway.gateway import Gateway, for_cluster
from monitoring.models import Cluster

RECORDS_MAX = 100_000


@dataclass(frozen=True, slots=True)
class CopyWish:
    """Which records to copy: all, of a range of time, or of `ranges` (partition → offsets)."""

    topic: str
    to: str
    most: int = RECORDS_MAX
    keeps_partitions: bool = True
    since_ms: int | None = None
    until_ms: int | None = None
    ranges: Mapping[int, range] = field(default_factory=dict)


def propose_copy(principal: Principal, cluster: Cluster, wish: CopyWish) -> Plan:
    """Plan to copy records. Raises PlanRefused or GatewayError."""
    if wish.to == wish.topic:
        raise PlanRefused(_("Choose another topic: this one is the topic that is copied."))
    if reason := write_refusal(cluster, wish.to):
        raise PlanRefused(reason)
    params = {
        "name": wish.topic,
        "to": wish.to,
        "copy": str(uuid.uuid4()),
        "user": principal.user.pk,
        "cluster": cluster.slug,
    }
    check_source(params)
    with for_cluster(cluster) as gateway:
        spans = limited(_spans(gateway, wish), wish.most)
    if not spans:
        raise PlanRefused(_("There are no records to copy there."))
    params |= {
        "spans": {str(number): [span.start, span.stop] for number, span in spans.items()},
        "keeps_partitions": wish.keeps_partitions,
        "count": sum(map(len, spans.values())),
        "exposed": _exposed(principal, cluster, wish),
    }
    return actions.propose(principal, cluster, CopyRecords.name, wish.topic, params)


def _exposed(principal: Principal, cluster: Cluster, wish: CopyWish) -> list[str]:
    """The parts that are masked for others in the source, and for nobody in the target."""
    _masked, unmasked = records.mask_targets(principal, cluster, wish.topic)
    of_target = {rule.target for rule in records.rules_for(cluster) if rule.masks(wish.to)}
    return sorted(set(unmasked) - of_target)


def limited(spans: Mapping[int, range], most: int) -> dict[int, range]:
    """At most so many offsets, shared fairly among the partitions: the first of each; pure."""
    left, kept = most, {}
    by_length = sorted(spans.items(), key=lambda item: len(item[1]))
    for index, (number, span) in enumerate(by_length):
        share = min(len(span), left // (len(by_length) - index))
        left -= share
        kept[number] = span[:share]
    return {number: span for number, span in sorted(kept.items()) if span}


def _spans(gateway: Gateway, wish: CopyWish) -> dict[int, range]:
    """Partition → the offsets that are there. Raises PlanRefused or GatewayError."""
    count = len(gateway.admin.describe_topic(wish.topic).partitions)
    if unknown := [number for number in wish.ranges if number >= count]:
        raise PlanRefused(_("There is no partition %(name)s.") % {"name": unknown[0]})
    keys = [(wish.topic, number) for number in wish.ranges or range(count)]
    logs = gateway.groups.log_ranges(keys)
    _check_all(keys, logs)
    spans = {number: logs[(topic, number)] for topic, number in keys}
    for number, wanted in wish.ranges.items():
        log = spans[number]
        spans[number] = range(max(log.start, wanted.start), min(log.stop, wanted.stop))
    if wish.since_ms is not None:
        at = gateway.groups.offsets_at(keys, wish.since_ms)
        _check_all(keys, at)
        for (_topic, number), offset in at.items():
            log = spans[number]
            spans[number] = range(log.stop if offset is None else offset, log.stop)
    if wish.until_ms is not None:
        at = gateway.groups.offsets_at(keys, wish.until_ms)
        _check_all(keys, at)
        for (_topic, number), offset in at.items():
            log = spans[number]
            spans[number] = range(log.start, log.stop if offset is None else offset)
    return {number: span for number, span in spans.items() if span}


def _check_all(keys: list[tuple[str, int]], found: Mapping[tuple[str, int], object]) -> None:
    if silent := [number for topic, number in keys if (topic, number) not in found]:
        text = _("Partition %(n)s could not be read: its leader does not answer.")
        raise PlanRefused(text % {"n": silent[0]})
