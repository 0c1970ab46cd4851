"""Who leads a partition (Kafka's PartitionLeaderElectionAlgorithms) and which replicas stay in its
ISR: functions from a state and the live brokers to the next state.

    leader   in sync, live   the next state
    live     all             no change
    live     some            the dead leave the ISR
    dead     some            the first assigned replica that is live and in sync leads; the dead
                             leave the ISR
    dead     none            no leader (-1); the ISR stays, it is where the records are
    none     some            as for a dead leader
    bounced  others          it leaves the ISR as if it were dead; another leads
    bounced  only itself     it leads again

Every change raises the leader epoch by one. A bounced broker is live but has restarted (or lost its
session) since it was last taken into account: it may have lost what it had not flushed, and clients
that have read that notice by the epoch. A broker that was stopped cleanly and is the controller
itself has not bounced (`PartitionStateMachine.load`).

Not here yet, since they need replicas that follow: unclean election, and that of preferred leaders.
"""

from collections.abc import Container, Sequence
from dataclasses import replace
from uuid import UUID

from brokerd.replication.partition_state import NO_LEADER, PartitionState


def first_state(
    topic: str,
    index: int,
    topic_id: UUID,
    replicas: Sequence[int],
    live: Container[int],
    controller_epoch: int,
) -> PartitionState | None:
    """The state of a partition that never had one, None while no replica of it is live."""
    present = tuple(replica for replica in replicas if replica in live)
    if not present:
        return None
    return PartitionState(
        topic=topic,
        partition=index,
        topic_id=topic_id,
        replicas=tuple(replicas),
        leader=present[0],
        leader_epoch=0,
        isr=present,
        controller_epoch=controller_epoch,
        version=0,
        is_new=True,
    )


def next_state(
    state: PartitionState, live: Container[int], bounced: Container[int], controller_epoch: int
) -> PartitionState | None:
    """The next state of the partition, one version later; None if it need not change."""
    present = tuple(r for r in state.isr if r in live)
    isr = tuple(r for r in present if r not in bounced) or present or state.isr
    leader = state.leader
    if leader not in isr or leader not in live or leader in bounced:
        candidates = (r for r in state.replicas if r in isr and r in live)
        leader = next(candidates, NO_LEADER)
    is_same_leader = leader == state.leader and leader not in bounced
    if is_same_leader and isr == state.isr:
        return None
    return next_epoch(replace(state, leader=leader, isr=isr), controller_epoch)


def next_epoch(state: PartitionState, controller_epoch: int) -> PartitionState:
    return replace(
        state,
        leader_epoch=state.leader_epoch + 1,
        controller_epoch=controller_epoch,
        version=state.version + 1,
        is_new=False,
    )
