"""LeaveGroup: members leave on their own, or an administrator removes static members."""

from brokerd.coordinator.group import rebalance
from brokerd.coordinator.group.event_context import EventContext
from brokerd.coordinator.group.group_metadata import Group
from brokerd.coordinator.group.messages import LeaveReply, LeavingMember, Ticket
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
        rebalance.remove_pending(context, group, member_id)
        return ErrorCode.NONE
    error = group.check_member(member_id, leaving.instance_id)
    if error is ErrorCode.NONE:
        rebalance.remove_member(context, group, group.members[member_id])
    return error
