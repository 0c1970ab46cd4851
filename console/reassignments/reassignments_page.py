"""What the page of reassignments shows: those in progress, and how far they are."""

from dataclasses import dataclass

from console.accounts.principal import Principal
from console.reassignments.actions.reassign import ReassignPartitions
from monitoring.gateway.gateway import for_cluster
from monitoring.gateway.wire.reassignments import Reassignment
from monitoring.models import Cluster


@dataclass(frozen=True, slots=True)
class ReassignmentProgress:
    """A reassignment in progress; `copied` of `total` bytes of the replicas that are added.

    None = unknown.
    """

    running: Reassignment
    copied: int | None
    total: int | None
    may_cancel: bool

    @property
    def percent(self) -> int | None:
        if self.copied is None or not self.total:
            return None
        return min(100, 100 * self.copied // self.total)


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
        by_broker = sizes.get((each.topic, each.partition), {})  # the bytes of the replica on each
        complete = [by_broker[b] for b in each.replicas if b not in each.adding and b in by_broker]
        total = max(complete) * len(each.adding) if complete else None
        copied = sum(by_broker.get(broker, 0) for broker in each.adding) if by_broker else None
        may_cancel = rights.may(ReassignPartitions.verb, each.topic) and not cluster.read_only
        found.append(ReassignmentProgress(each, copied, total, may_cancel))
    return found
