"""SyncGroup, Heartbeat and LeaveGroup: what a member asks once it knows its generation."""

from functools import partial

from brokerd.errors import ErrorCode
from brokerd.groups import rebalance
from brokerd.groups.deadlines import Deadline, Timer
from brokerd.groups.group import Group, Member
from brokerd.groups.members import check_generation, check_member
from brokerd.groups.messages import (
    HeartbeatRequest,
    LeaveReply,
    LeavingMember,
    SyncReply,
    SyncRequest,
    Ticket,
)
from brokerd.groups.records import GroupRecord
from brokerd.groups.transitions import ANSWERS, Action, Event, GroupState, Request
from brokerd.groups.turn import Turn


def sync(turn: Turn, ticket: Ticket, request: SyncRequest) -> None:
    """Give a member its assignment, or park it until the leader has brought all of them."""
    error = _sync(turn, ticket, request)
    if error is not ErrorCode.NONE:
        turn.reply(ticket, SyncReply(error=error))


def _sync(turn: Turn, ticket: Ticket, request: SyncRequest) -> ErrorCode:
    group = turn.shard.groups.get(request.group_id)
    if group is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    error = check_generation(group, request.member_id, request.instance_id, request.generation)
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
    _synced(turn, group, member)
    if answer is Action.GIVE_ASSIGNMENT:
        turn.reply(ticket, _sync_reply(group, member))
        turn.renew_session(group, member)
        return ErrorCode.NONE
    # A sync of the same member that still waits is from a connection given up.
    turn.answer_sync(member, SyncReply(error=ErrorCode.REBALANCE_IN_PROGRESS))
    member.sync_ticket = ticket
    if is_assigning:
        assignments = dict(request.assignments)
        record = GroupRecord(group.group_id, group.to_value(assignments))
        turn.write([record], partial(_assigned, group, group.generation, assignments))
    return ErrorCode.NONE


def _synced(turn: Turn, group: Group, member: Member) -> None:
    group.unsynced.discard(member.member_id)
    if not group.unsynced:
        turn.shard.deadlines.cancel(Deadline(Timer.SYNC, group.group_id))


def _assigned(
    group: Group, generation: int, assignments: dict[str, bytes], turn: Turn, error: ErrorCode
) -> None:
    """The leader's assignment is in the log, or never will be."""
    overtaken = group.state is not GroupState.COMPLETING_REBALANCE or group.generation != generation
    if overtaken:
        return
    if error is not ErrorCode.NONE:
        rebalance.fail_syncs(turn, group, error)
        rebalance.prepare(turn, group)
        return
    group.move(Event.ASSIGNED, turn.now_ms)
    for member in group.members.values():
        group.assign(member, assignments.get(member.member_id, b""))
        if member.sync_ticket is not None:
            turn.answer_sync(member, _sync_reply(group, member))
            turn.renew_session(group, member)


def _sync_reply(group: Group, member: Member) -> SyncReply:
    return SyncReply(
        protocol_type=group.protocol_type, protocol=group.protocol, assignment=member.assignment
    )


def heartbeat(turn: Turn, request: HeartbeatRequest) -> ErrorCode:
    """Keep a member's session alive; tells it of a rebalance. Answered at once."""
    group = turn.shard.groups.get(request.group_id)
    if group is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    error = check_generation(group, request.member_id, request.instance_id, request.generation)
    if error is not ErrorCode.NONE:
        return error
    answer = ANSWERS[Request.HEARTBEAT][group.state]
    turn.renew_session(group, group.members[request.member_id])
    return answer if isinstance(answer, ErrorCode) else ErrorCode.NONE


def leave(turn: Turn, ticket: Ticket, group_id: str, leaving: tuple[LeavingMember, ...]) -> None:
    """Drop members at their own wish, or static ones at an administrator's."""
    group = turn.shard.groups.get(group_id)
    if group is None:
        errors = tuple(ErrorCode.UNKNOWN_MEMBER_ID for _ in leaving)
    else:
        errors = tuple(_leave(turn, group, one) for one in leaving)
    turn.reply(ticket, LeaveReply(errors))


def _leave(turn: Turn, group: Group, leaving: LeavingMember) -> ErrorCode:
    member_id = leaving.member_id
    if not member_id and leaving.instance_id is not None:
        member_id = group.statics.get(leaving.instance_id, "")
    if member_id in group.pending and leaving.instance_id is None:
        rebalance.remove_pending(turn, group, member_id)
        return ErrorCode.NONE
    error = check_member(group, member_id, leaving.instance_id)
    if error is ErrorCode.NONE:
        rebalance.remove_member(turn, group, group.members[member_id])
    return error
