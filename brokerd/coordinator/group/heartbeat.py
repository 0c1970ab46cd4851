"""Heartbeat, and the sessions of members. A member is heard of when it joins, syncs, sends a
heartbeat or commits, and when a request of its own that waited is answered; else it is removed
after its session timeout.
"""

from brokerd.coordinator.group.coordinator_context import EventContext
from brokerd.coordinator.group.coordinator_timer import Timer
from brokerd.coordinator.group.group_metadata import Group, Member
from brokerd.coordinator.group.group_states import ANSWERS, Request
from brokerd.coordinator.group.messages import HeartbeatRequest
from brokerd.errors import ErrorCode


def renew_session(context: EventContext, group: Group, member: Member) -> None:
    context.set_deadline(Timer.SESSION, group, member.session_timeout_ms, member.member_id)


def end_session(context: EventContext, group: Group, member_id: str) -> None:
    context.cancel_deadline(Timer.SESSION, group, member_id)


def heartbeat(context: EventContext, request: HeartbeatRequest) -> ErrorCode:
    """Renews the session of a member. Returns REBALANCE_IN_PROGRESS during a rebalance."""
    group = context.state.groups.get(request.group_id)
    if group is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    error = group.check_generation(request.member_id, request.instance_id, request.generation)
    if error is not ErrorCode.NONE:
        return error
    answer = ANSWERS[Request.HEARTBEAT][group.state]
    renew_session(context, group, group.members[request.member_id])
    return answer if isinstance(answer, ErrorCode) else ErrorCode.NONE
