"""Plans to purge a topic: the exact offsets before which its records are deleted."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from console.accounts.principal import Principal
from console.actions import services as plans
from console.actions.draft import PlanRefused, refuse_unread_partitions
from console.actions.models import Plan
from console.topics.actions.purge import PurgeTopic
from monitoring.gateway.gateway import Gateway, for_cluster
from monitoring.models import Cluster


@dataclass(frozen=True, slots=True)
class Purge:
    """Which records are deleted: all, those before an offset, or those before a time.

    `partitions` () = all of them.
    """

    before_offset: int | None = None
    before_ms: int | None = None
    partitions: tuple[int, ...] = ()


def propose_purge(principal: Principal, cluster: Cluster, topic: str, purge: Purge) -> Plan:
    """Plan to delete records. Raises PlanRefused or GatewayError."""
    with for_cluster(cluster) as gateway:
        offsets = first_kept_offsets(gateway, topic, purge)
    if not offsets:
        raise PlanRefused(_("There are no records to delete there."))
    params = {"name": topic, "offsets": {str(number): offset for number, offset in offsets}}
    return plans.propose(principal, cluster, PurgeTopic.action, topic, params)


def first_kept_offsets(gateway: Gateway, topic: str, purge: Purge) -> list[tuple[int, int]]:
    """(partition, first offset that is kept) of each partition that loses records."""
    count = len(gateway.topics.describe_topic(topic).partitions)
    if unknown := [number for number in purge.partitions if number >= count]:
        raise PlanRefused(_("There is no partition %(name)s.") % {"name": unknown[0]})
    keys = [(topic, number) for number in purge.partitions or range(count)]
    logs = gateway.log_offsets.ranges(keys)
    offset_at_time = (
        {} if purge.before_ms is None else gateway.log_offsets.at_time(keys, purge.before_ms)
    )
    furthest = max((log.stop for log in logs.values()), default=0)
    if logs and purge.before_offset is not None and purge.before_offset > furthest:
        text = _("Offset %(offset)d is beyond the end of every partition; the last end is %(end)d.")
        raise PlanRefused(text % {"offset": purge.before_offset, "end": furthest})
    answered = logs.keys() if purge.before_ms is None else logs.keys() & offset_at_time.keys()
    refuse_unread_partitions(str(key[1]) for key in keys if key not in answered)
    found = []
    for key in keys:
        end = logs[key].stop
        if purge.before_offset is not None:
            end = min(end, purge.before_offset)
        elif purge.before_ms is not None:
            first = offset_at_time[key]  # None = all records are older
            end = end if first is None else first
        if end > logs[key].start:
            found.append((key[1], end))
    return found
