"""Heartbeat: keeps the session of a member alive."""

from brokerd.coordinator.group import sessions
from brokerd.coordinator.group.event_context import EventContext
from brokerd.coordinator.group.member_checks import check_generation
from brokerd.coordinator.group.messages import HeartbeatRequest
from brokerd.coordinator.group.transitions import ANSWERS, Request
from brokerd.errors import ErrorCode


def heartbeat(context: EventContext, request: HeartbeatRequest) -> ErrorCode:
    group = context.state.groups.get(request.group_id)
    if group is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    error = check_generation(group, request.member_id, request.instance_id, request.generation)
    if error is not ErrorCode.NONE:
        return error
    answer = ANSWERS[Request.HEARTBEAT][group.state]
    sessions.renew(context, group, group.members[request.member_id])
    return answer if isinstance(answer, ErrorCode) else ErrorCode.NONE
