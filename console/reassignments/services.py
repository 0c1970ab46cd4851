"""Plans for replicas and leaders, and what the page of reassignments shows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from console.accounts.principal import Principal
from console.actions import services as plans
from console.actions.draft import PlanRefused
from console.actions.models import Plan
from console.reassignments import cluster_state
from console.reassignments.actions import cancel, elect, reassign
from console.reassignments.actions.cancel import CancelReassignments
from console.reassignments.actions.elect import ElectLeaders
from console.reassignments.actions.reassign import ReassignPartitions
from console.reassignments.assignment import assign
from console.reassignments.cluster_state import ClusterState, Partition
from console.reassignments.moves import Move
from console.topics.actions.bulk import resource_of
from monitoring.gateway.gateway import for_cluster
from monitoring.gateway.topic_partition import TopicPartition
from monitoring.gateway.wire.reassignments import Reassignment
from monitoring.models import Cluster
from monitoring.reasons import Reason

PARTITIONS_MAX = 2000  # of one plan
VERB = ReassignPartitions.verb


@dataclass(frozen=True, slots=True)
class WantedAssignment:
    """What a user wants: brokers and factor (None = each topic's own), or the replicas of some
    partitions."""

    brokers: Sequence[int]
    factor: int | None = None
    assignment: Mapping[TopicPartition, tuple[int, ...]] | None = None
    throttle: int | None = None  # bytes per second


@dataclass(frozen=True, slots=True)
class ReassignmentProgress:
    """A reassignment in progress; `copied` of `total` bytes of the replicas that are added."""

    running: Reassignment
    copied: int | None
    total: int | None
    may_cancel: bool

    @property
    def percent(self) -> int | None:
        if self.copied is None or not self.total:
            return None
        return min(100, 100 * self.copied // self.total)


def read_state(cluster: Cluster, topics: list[str]) -> ClusterState:
    """The state of these topics. Raises Unsupported if the cluster cannot reassign partitions, or
    another GatewayError."""
    with for_cluster(cluster) as gateway:
        gateway.reassignments.check_supported()
        return cluster_state.read(gateway, topics)


def propose_reassignment(
    principal: Principal,
    cluster: Cluster,
    topics: list[str],
    state: ClusterState,
    wanted: WantedAssignment,
) -> Plan:
    """Plan a reassignment. Raises PlanRefused or GatewayError."""
    planned = _planned_moves(state, topics, wanted)
    if not planned:
        raise PlanRefused(_("Nothing changes: the replicas are as they should be."))
    if len(planned) > PARTITIONS_MAX:
        text = _("%(n)d partitions would move. Plan at most %(most)d at once.")
        raise PlanRefused(text % {"n": len(planned), "most": PARTITIONS_MAX})
    params = reassign.params_of(planned, wanted.throttle)
    resource = resource_of(params["names"])
    return plans.propose(principal, cluster, ReassignPartitions.action, resource, params)


def _planned_moves(state: ClusterState, topics: list[str], wanted: WantedAssignment) -> list[Move]:
    for topic in topics:
        if (topic, 0) not in state.partitions:
            raise PlanRefused(_("There is no topic “%(name)s”.") % {"name": topic})
    current = {key: each.replicas for key, each in state.partitions.items()}
    target: Mapping[TopicPartition, tuple[int, ...]]
    if wanted.assignment:
        target = wanted.assignment
        if unknown := [key for key in target if key not in current]:
            text = _("There is no partition “%(name)s”.")
            raise PlanRefused(text % {"name": "{}-{}".format(*unknown[0])})
    else:
        if len(current) > PARTITIONS_MAX:
            text = _("The topics have %(n)d partitions. Select topics with at most %(most)d.")
            raise PlanRefused(text % {"n": len(current), "most": PARTITIONS_MAX})
        racks = {broker: state.racks[broker] for broker in wanted.brokers}
        factors = dict.fromkeys(topics, wanted.factor) if wanted.factor else {}
        try:
            target = assign(current, racks, {t: f for t, f in factors.items() if f})
        except ValueError as error:
            text = _("A topic has more replicas than there are chosen brokers.")
            raise PlanRefused(text) from error
    for key in target:
        if key in state.running:
            text = _("“%(name)s” is being reassigned. Wait until it ends, or cancel it.")
            raise PlanRefused(text % {"name": "{}-{}".format(*key)})
    return [
        Move(*key, current[key], replicas)
        for key, replicas in target.items()
        if replicas != current[key]
    ]


def read_progress(principal: Principal, cluster: Cluster) -> list[ReassignmentProgress]:
    """The reassignments in progress of the topics that the user sees. Raises GatewayError."""
    rights = principal.rights(cluster)
    with for_cluster(cluster) as gateway:
        running = [
            each
            for each in gateway.reassignments.in_progress()
            if rights.may("topic.view", each.topic)
        ]
        keys = [(each.topic, each.partition) for each in running]
        sizes = gateway.reassignments.sizes(keys).sizes if keys else {}
    found = []
    for each in running:
        size_of = sizes.get((each.topic, each.partition), {})  # by broker
        complete = [size_of[b] for b in each.replicas if b not in each.adding and b in size_of]
        total = max(complete) * len(each.adding) if complete else None
        copied = sum(size_of.get(broker, 0) for broker in each.adding) if size_of else None
        may_cancel = rights.may(VERB, each.topic) and not cluster.read_only
        found.append(ReassignmentProgress(each, copied, total, may_cancel))
    return found


def propose_cancel(principal: Principal, cluster: Cluster, topic: str) -> Plan:
    """Plan to cancel the reassignments of a topic. Raises PlanRefused or GatewayError."""
    if not principal.may(VERB, cluster, topic):
        raise PlanRefused(Reason("plan_not_allowed"))
    with for_cluster(cluster) as gateway:
        gateway.reassignments.check_supported()
        running = [each for each in gateway.reassignments.in_progress() if each.topic == topic]
    if not running:
        raise PlanRefused(_("No partition of this topic is being reassigned."))
    params = cancel.params_of(running)
    return plans.propose(principal, cluster, CancelReassignments.action, topic, params)


def not_led_by_preferred(principal: Principal, cluster: Cluster) -> dict[TopicPartition, Partition]:
    """The partitions that their preferred replica does not lead, if the user may change them."""
    rights = principal.rights(cluster)
    with for_cluster(cluster) as gateway:
        metadata = gateway.wire.metadata()
    names = [name for name in metadata.topics if rights.may(VERB, name)]
    return elect.not_led_by_preferred(cluster_state.partitions(metadata, names))


def propose_election(
    principal: Principal, cluster: Cluster, topic: str = "", partition: int | None = None
) -> Plan:
    """Plan an election for a partition, a topic, or all topics. Raises PlanRefused or
    GatewayError."""
    found = {
        key: each
        for key, each in not_led_by_preferred(principal, cluster).items()
        if topic in ("", key[0]) and partition in (None, key[1])
    }
    if not found:
        raise PlanRefused(_("The preferred replicas that are in sync lead already."))
    if len(found) > PARTITIONS_MAX:
        text = _("%(n)d leaders would change. Plan at most %(most)d at once.")
        raise PlanRefused(text % {"n": len(found), "most": PARTITIONS_MAX})
    params = elect.params_of(found)
    resource = topic or resource_of(params["names"])
    return plans.propose(principal, cluster, ElectLeaders.action, resource, params)
