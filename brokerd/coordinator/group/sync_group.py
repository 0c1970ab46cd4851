"""SyncGroup: the leader sends all assignments, and each member gets its own. A member that does not
sync within the longest rebalance timeout is removed (Kafka's DelayedSync).
"""

from functools import partial

from brokerd.coordinator.group.coordinator_context import EventContext
from brokerd.coordinator.group.coordinator_timer import Timer
from brokerd.coordinator.group.delayed_join import prepare_rebalance
from brokerd.coordinator.group.group_coordinator_record_serde import GroupRecord
from brokerd.coordinator.group.group_metadata import Group, Member
from brokerd.coordinator.group.group_states import ANSWERS, Action, Event, GroupState, Request
from brokerd.coordinator.group.heartbeat import end_session, renew_session
from brokerd.coordinator.group.messages import SyncReply, SyncRequest, Ticket
from brokerd.errors import ErrorCode


def sync(context: EventContext, ticket: Ticket, request: SyncRequest) -> None:
    """Gives a member its assignment, or delays it until the leader has sent the assignments."""
    error = _sync(context, ticket, request)
    if error is not ErrorCode.NONE:
        context.reply(ticket, SyncReply(error=error))


def _sync(context: EventContext, ticket: Ticket, request: SyncRequest) -> ErrorCode:
    group = context.state.groups.get(request.group_id)
    if group is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    error = group.check_generation(request.member_id, request.instance_id, request.generation)
    if error is not ErrorCode.NONE:
        return error
    if request.protocol_type not in (None, group.protocol_type):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    if request.protocol is not None and group.protocol not in (None, request.protocol):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    answer = ANSWERS[Request.SYNC][group.state]
    if isinstance(answer, ErrorCode):
        return answer
    member = group.members[request.member_id]
    is_assigning = answer is not Action.GIVE_ASSIGNMENT and member.member_id == group.leader
    if is_assigning and not group.has_room_for(dict(request.assignments)):
        return ErrorCode.GROUP_MAX_SIZE_REACHED
    _synced(context, group, member)
    if answer is Action.GIVE_ASSIGNMENT:
        context.reply(ticket, _sync_reply(group, member))
        renew_session(context, group, member)
        return ErrorCode.NONE
    # A sync of the same member that still waits is from a connection given up.
    context.answer_sync(member, SyncReply(error=ErrorCode.REBALANCE_IN_PROGRESS))
    member.sync_ticket = ticket
    if is_assigning:
        assignments = dict(request.assignments)
        record = GroupRecord(group.group_id, group.to_value(assignments))
        context.write([record], partial(_assigned, group, group.generation, assignments))
    return ErrorCode.NONE


def _synced(context: EventContext, group: Group, member: Member) -> None:
    group.unsynced.discard(member.member_id)
    if not group.unsynced:
        context.cancel_deadline(Timer.SYNC, group)


def _assigned(
    group: Group,
    generation: int,
    assignments: dict[str, bytes],
    context: EventContext,
    error: ErrorCode,
) -> None:
    overtaken = group.state is not GroupState.COMPLETING_REBALANCE or group.generation != generation
    if overtaken:
        return
    if error is not ErrorCode.NONE:
        prepare_rebalance(context, group, error)
        return
    group.move(Event.ASSIGNED, context.now_ms)
    for member in group.members.values():
        group.assign(member, assignments.get(member.member_id, b""))
        if member.sync_ticket is not None:
            context.answer_sync(member, _sync_reply(group, member))
            renew_session(context, group, member)


def end_syncs(context: EventContext, group: Group) -> None:
    """The deadline for syncs has come: removes members that have not sent one."""
    late = [group.members[member_id] for member_id in sorted(group.unsynced)]
    if not late or group.state is GroupState.PREPARING_REBALANCE:
        return
    for member in late:
        end_session(context, group, member.member_id)
        group.remove(member.member_id)
    prepare_rebalance(context, group)


def _sync_reply(group: Group, member: Member) -> SyncReply:
    return SyncReply(
        protocol_type=group.protocol_type, protocol=group.protocol, assignment=member.assignment
    )
