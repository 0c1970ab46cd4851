"""Stores what happened in a cluster between two ticks."""

import logging

from django.db import DatabaseError, transaction
from django.db.models import Count, F, Max

from monitoring.cluster_events.broker_changes import broker_changes
from monitoring.cluster_events.models import ClusterEvent
from monitoring.cluster_events.rebalances import rebalances
from monitoring.clusters.models import Cluster
from monitoring.storable_names import is_storable
from monitoring.ticks.tick import Tick

log = logging.getLogger(__name__)
# A restart of a broker can rebalance all groups; a group can rebalance at every tick.
EVENTS_MAX = 20_000  # of a cluster, the newest
EVENTS_OF_TICK_MAX = 1_000
# So one group does not displace the events of the others. The page of a group shows 20.
REBALANCES_OF_DAY_MAX, REBALANCES_OF_DAY_KEPT = 40, 20  # of a group: if there are 40, 20 are kept
_DAY_MS = 86_400_000


def store(tick: Tick, previous: Tick | None) -> None:
    """Store what happened since the previous tick; nothing if either could not be sampled.

    An error of the database is logged: the tick does not depend on it.
    """
    if previous is None or not (tick.ok and previous.ok):
        return
    if previous.cluster_id != tick.cluster_id:
        return  # another cluster has this address now
    found = _events(tick, previous)
    if not found:
        return
    if len(found) > EVENTS_OF_TICK_MAX:
        left_out = len(found) - EVENTS_OF_TICK_MAX
        log.warning("%d events of tick %d of %s are not stored", left_out, tick.tick, tick.cluster)
    try:
        _save(tick.cluster, found[:EVENTS_OF_TICK_MAX])
    except DatabaseError as error:
        log.warning("the events of tick %d of %s are lost: %s", tick.tick, tick.cluster, error)


def _events(tick: Tick, previous: Tick) -> list[ClusterEvent]:
    """The events as rows without a cluster, those of brokers first."""
    kinds = ClusterEvent.Kind
    brokers = [
        ClusterEvent(
            tick=tick.tick,
            at_ms=each.at_ms,
            kind=kinds.BROKER_BACK if each.is_up else kinds.BROKER_LEFT,
            name=str(each.broker),
        )
        for each in broker_changes(tick, previous)
    ]
    groups = [
        ClusterEvent(
            tick=tick.tick,
            at_ms=tick.at_ms,
            kind=kinds.REBALANCE,
            name=group,
            members_before=each.members_before,
            members=each.members,
            moved=each.moved,
        )
        for group, each in rebalances(tick, previous).items()
        if is_storable(group)
    ]
    return [*brokers, *groups]


@transaction.atomic
def _save(slug: str, events: list[ClusterEvent]) -> None:
    """Save the events of a tick, and delete the oldest of the cluster beyond EVENTS_MAX."""
    cluster = Cluster.objects.filter(slug=slug).first()
    if cluster is None:
        return  # it was removed meanwhile
    for event in events:
        event.cluster = cluster
    ClusterEvent.objects.bulk_create(events, ignore_conflicts=True)
    _count_earlier_rebalances(cluster, events)
    rows = ClusterEvent.objects.filter(cluster=cluster)
    too_old = list(rows.order_by("-pk").values_list("pk", flat=True)[EVENTS_MAX : EVENTS_MAX + 1])
    if too_old:
        rows.filter(pk__lte=too_old[0]).delete()


def _count_earlier_rebalances(cluster: Cluster, events: list[ClusterEvent]) -> None:
    """Of a group with too many rebalances that day: delete the older rows and add their number to
    one row."""
    rebalanced = [each for each in events if each.kind == ClusterEvent.Kind.REBALANCE]
    if not rebalanced:
        return
    day_ms = rebalanced[0].at_ms // _DAY_MS * _DAY_MS
    of_day = ClusterEvent.objects.filter(
        cluster=cluster, at_ms__gte=day_ms, at_ms__lt=day_ms + _DAY_MS
    )
    rows = of_day.filter(kind=ClusterEvent.Kind.REBALANCE)
    counts = rows.filter(name__in=[each.name for each in rebalanced]).order_by().values("name")
    too_many = counts.annotate(rows=Count("pk")).filter(rows__gte=REBALANCES_OF_DAY_MAX)
    for group in list(too_many.values_list("name", flat=True)):
        of_group = rows.filter(name=group)  # newest first (Meta.ordering)
        earlier = of_group.filter(
            pk__in=list(of_group.values_list("pk", flat=True)[REBALANCES_OF_DAY_KEPT:])
        )
        last = earlier.aggregate(tick=Max("tick"), at_ms=Max("at_ms"))
        deleted, _of_models = earlier.delete()
        kind = ClusterEvent.Kind.EARLIER_REBALANCES
        if not of_day.filter(kind=kind, name=group).update(**last, count=F("count") + deleted):
            ClusterEvent.objects.create(
                cluster=cluster, kind=kind, name=group, **last, count=deleted
            )
