"""LeaveGroup: members leave on their own, or an administrator removes static members. Also the
removal of members whose session is over, or that did not use the member id they were given.
"""

from brokerd.coordinator.group.coordinator_context import EventContext
from brokerd.coordinator.group.coordinator_timer import Timer
from brokerd.coordinator.group.delayed_join import carry_out, try_complete_join
from brokerd.coordinator.group.group_metadata import Group, Member
from brokerd.coordinator.group.group_states import ANSWERS, GroupState, Request
from brokerd.coordinator.group.heartbeat import end_session
from brokerd.coordinator.group.messages import (
    JoinReply,
    LeaveReply,
    LeavingMember,
    SyncReply,
    Ticket,
)
from brokerd.errors import ErrorCode


def leave(
    context: EventContext, ticket: Ticket, group_id: str, leaving: tuple[LeavingMember, ...]
) -> None:
    group = context.state.groups.get(group_id)
    if group is None:
        errors = tuple(ErrorCode.UNKNOWN_MEMBER_ID for _ in leaving)
    else:
        errors = tuple(_leave(context, group, one) for one in leaving)
    context.reply(ticket, LeaveReply(errors))


def _leave(context: EventContext, group: Group, leaving: LeavingMember) -> ErrorCode:
    member_id = leaving.member_id
    if not member_id and leaving.instance_id is not None:
        member_id = group.statics.get(leaving.instance_id, "")
    if member_id in group.pending and leaving.instance_id is None:
        remove_pending_member(context, group, member_id)
        return ErrorCode.NONE
    error = group.check_member(member_id, leaving.instance_id)
    if error is ErrorCode.NONE:
        remove_member(context, group, group.members[member_id])
    return error


def remove_member(context: EventContext, group: Group, member: Member) -> None:
    # A delayed join gets an error that makes a client still alive come back as a new member.
    unknown = ErrorCode.UNKNOWN_MEMBER_ID
    context.answer_join(member, JoinReply(error=unknown, member_id=member.member_id))
    context.answer_sync(member, SyncReply(error=unknown))
    end_session(context, group, member.member_id)
    group.remove(member.member_id)
    carry_out(context, group, ANSWERS[Request.MEMBER_GONE][group.state])


def remove_pending_member(context: EventContext, group: Group, member_id: str) -> None:
    """Takes back a member id that was given out and not used."""
    group.expect_no_more(member_id)
    context.cancel_deadline(Timer.PENDING_MEMBER, group, member_id)
    if group.state is GroupState.PREPARING_REBALANCE:
        try_complete_join(context, group)
