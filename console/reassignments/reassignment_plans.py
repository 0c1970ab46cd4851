"""Plans to reassign partitions, to cancel that, and to elect leaders."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from console.accounts.principal import Principal
from console.actions import services as plans
from console.actions.draft import PlanRefused
from console.actions.models import Plan
from console.reassignments import current_replicas
from console.reassignments.actions import cancel, elect, reassign
from console.reassignments.actions.cancel import CancelReassignments
from console.reassignments.actions.elect import ElectLeaders
from console.reassignments.actions.reassign import ReassignPartitions
from console.reassignments.current_replicas import ClusterState, Partition
from console.reassignments.moves import Move
from console.reassignments.propose_replicas import propose_replicas
from console.topics.actions.topic_target import names_as_resource
from monitoring.error_reason import Reason
from monitoring.gateway.gateway import for_cluster
from monitoring.gateway.topic_partition import TopicPartition, partition_key
from monitoring.models import Cluster

PARTITIONS_MAX = 2000  # of one plan
VERB = ReassignPartitions.verb


@dataclass(frozen=True, slots=True)
class WantedAssignment:
    """What a user wants: replicas spread over `brokers`, or the `assignment` of some partitions."""

    brokers: Sequence[int]
    factor: int | None = None  # None = each topic keeps its own
    assignment: Mapping[TopicPartition, tuple[int, ...]] | None = None  # partition → replicas
    throttle: int | None = None  # bytes per second


def read_state(cluster: Cluster, topics: list[str]) -> ClusterState:
    """The state of these topics. Raises Unsupported if the cluster cannot reassign partitions, or
    another GatewayError."""
    with for_cluster(cluster) as gateway:
        gateway.reassignments.check_supported()
        return current_replicas.read(gateway, topics)


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
    resource = names_as_resource(params["names"])
    return plans.propose(principal, cluster, ReassignPartitions.action, resource, params)


def _planned_moves(state: ClusterState, topics: list[str], wanted: WantedAssignment) -> list[Move]:
    for topic in topics:
        if (topic, 0) not in state.partitions:
            raise PlanRefused(_("There is no topic “%(name)s”.") % {"name": topic})
    current = {key: each.replicas for key, each in state.partitions.items()}
    wanted_replicas: Mapping[TopicPartition, tuple[int, ...]]
    if wanted.assignment:
        wanted_replicas = wanted.assignment
        if unknown := [key for key in wanted_replicas if key not in current]:
            text = _("There is no partition “%(name)s”.")
            raise PlanRefused(text % {"name": partition_key(*unknown[0])})
    else:
        if len(current) > PARTITIONS_MAX:
            text = _("The topics have %(n)d partitions. Select topics with at most %(most)d.")
            raise PlanRefused(text % {"n": len(current), "most": PARTITIONS_MAX})
        racks = {broker: state.racks[broker] for broker in wanted.brokers}
        factors = dict.fromkeys(topics, wanted.factor) if wanted.factor is not None else {}
        try:
            wanted_replicas = propose_replicas(current, racks, factors)
        except ValueError as error:
            text = _("A topic has more replicas than there are chosen brokers.")
            raise PlanRefused(text) from error
    for key in wanted_replicas:
        if key in state.running:
            text = _("“%(name)s” is being reassigned. Wait until it ends, or cancel it.")
            raise PlanRefused(text % {"name": partition_key(*key)})
    return [
        Move(*key, current[key], replicas)
        for key, replicas in wanted_replicas.items()
        if replicas != current[key]
    ]


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


def electable(principal: Principal, cluster: Cluster) -> dict[TopicPartition, Partition]:
    """The partitions whose leader an election would change, if the user may do so.

    Raises GatewayError.
    """
    rights = principal.rights(cluster)
    with for_cluster(cluster) as gateway:
        metadata = gateway.wire.metadata()
    names = [name for name in metadata.topics if rights.may(VERB, name)]
    return elect.not_led_by_preferred(current_replicas.partitions(metadata, names))


def propose_election(
    principal: Principal, cluster: Cluster, topic: str = "", partition: int | None = None
) -> Plan:
    """Plan an election for a partition, a topic, or all topics. Raises PlanRefused or
    GatewayError."""
    found = {
        key: each
        for key, each in electable(principal, cluster).items()
        if topic in ("", key[0]) and partition in (None, key[1])
    }
    if not found:
        raise PlanRefused(_("The preferred replicas that are in sync lead already."))
    if len(found) > PARTITIONS_MAX:
        text = _("%(n)d leaders would change. Plan at most %(most)d at once.")
        raise PlanRefused(text % {"n": len(found), "most": PARTITIONS_MAX})
    params = elect.params_of(found)
    resource = topic or names_as_resource(params["names"])
    return plans.propose(principal, cluster, ElectLeaders.action, resource, params)
