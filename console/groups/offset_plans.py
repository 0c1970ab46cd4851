"""Plans to reset the offsets of a group, or to delete them."""

from collections.abc import Iterable

from django.utils.translation import gettext as _

from console.accounts.principal import Principal
from console.actions import services as plans
from console.actions.action_type import Params
from console.actions.draft import PlanRefused
from console.actions.models import Plan
from console.groups.actions.reset_offsets import ResetOffsets
from console.groups.compute_reset_offsets import ResetTo
from console.groups.read_partitions_to_reset import Reset, resolve
from monitoring.gateway.gateway import for_cluster
from monitoring.gateway.topic_partition import TopicPartition, partition_key
from monitoring.models import Cluster


def propose_reset(principal: Principal, cluster: Cluster, group: str, reset: Reset) -> Plan:
    """Plan a reset. Raises PlanRefused or GatewayError."""
    resolved = resolve(principal, cluster, group, reset)
    changed = resolved.changed
    if not changed:
        raise PlanRefused(_("Every chosen partition is already committed at its new offset."))
    left_out = [partition_key(*key) for key in resolved.left_out]
    is_shift = reset.reset_to == ResetTo.SHIFT
    return _propose(principal, cluster, group, changed, left_out, is_shift=is_shift)


def propose_delete_offsets(principal: Principal, cluster: Cluster, group: str, topic: str) -> Plan:
    """Plan to delete the commits of a group on a topic. Raises PlanRefused or GatewayError."""
    with for_cluster(cluster) as gateway:
        committed = gateway.groups.committed(group)
    keys = sorted(key for key in committed if key[0] == topic)
    if not keys or not principal.rights(cluster).scope.shows_topic(topic):
        text = _("The group has no committed offsets on “%(topic)s”.")
        raise PlanRefused(text % {"topic": topic})
    return _propose(principal, cluster, group, dict.fromkeys(keys))


def _propose(
    principal: Principal,
    cluster: Cluster,
    group: str,
    offsets: dict[TopicPartition, int] | dict[TopicPartition, None],
    left_out: Iterable[str] = (),
    *,
    is_shift: bool = False,
) -> Plan:
    rows = [[topic, partition, offset] for (topic, partition), offset in offsets.items()]
    params: Params = {
        "name": group,
        "offsets": rows,
        "left_out": list(left_out),
        "is_shift": is_shift,
    }
    return plans.propose(principal, cluster, ResetOffsets.action, group, params)
