"""JoinGroup: new members, with a member id or not; known members; static members that return."""

from dataclasses import replace
from functools import partial

from brokerd.config.group_coordinator_config import NEW_MEMBER_JOIN_TIMEOUT_MS, PENDING_MEMBERS_MAX
from brokerd.coordinator.group.coordinator_context import EventContext
from brokerd.coordinator.group.coordinator_timer import Timer
from brokerd.coordinator.group.delayed_join import (
    carry_out,
    join_reply,
    prepare_rebalance,
    try_complete_join,
)
from brokerd.coordinator.group.group_coordinator_record_serde import GroupRecord
from brokerd.coordinator.group.group_metadata import Group, Member
from brokerd.coordinator.group.group_states import ANSWERS, Action, GroupState, Request
from brokerd.coordinator.group.heartbeat import end_session, renew_session
from brokerd.coordinator.group.leave_group import remove_pending_member
from brokerd.coordinator.group.member_memory_limit import MEMBER_BYTES, size_of
from brokerd.coordinator.group.messages import JoinReply, JoinRequest, SyncReply, Ticket
from brokerd.errors import ErrorCode


def join(context: EventContext, ticket: Ticket, request: JoinRequest) -> None:
    """Adds, delays or refuses a member; the reply comes when the rebalance is complete."""
    error = _join(context, ticket, request)
    if error is not ErrorCode.NONE:
        context.reply(ticket, JoinReply(error=error, member_id=request.member_id))


def _join(context: EventContext, ticket: Ticket, request: JoinRequest) -> ErrorCode:
    config = context.config
    shortest_ms, longest_ms = config.session_timeout_ms_min, config.session_timeout_ms_max
    if not shortest_ms <= request.session_timeout_ms <= longest_ms:
        return ErrorCode.INVALID_SESSION_TIMEOUT
    group = context.state.groups.get(request.group_id)
    if not _has_memory(context, group, request):
        return ErrorCode.GROUP_MAX_SIZE_REACHED
    if group is None:
        if request.member_id:
            return ErrorCode.UNKNOWN_MEMBER_ID
        if not (request.protocol_type and request.protocols):
            return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        group = Group.founded(request.group_id, context.state.member_memory)
        context.state.groups[request.group_id] = group
    if not _has_room(context, group, request.member_id):
        remove_pending_member(context, group, request.member_id)
        return ErrorCode.GROUP_MAX_SIZE_REACHED
    if not group.supports(request.protocol_type, request.protocols):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    if request.member_id:
        return _join_known(context, ticket, group, request)
    return _join_new(context, ticket, group, request)


def _has_memory(context: EventContext, group: Group | None, request: JoinRequest) -> bool:
    """Whether there is memory for what the request has beyond the member's earlier request."""
    known = None
    if group is not None:
        member_id = request.member_id or group.statics.get(request.instance_id or "", "")
        known = group.members.get(member_id)
    brought = MEMBER_BYTES + size_of(request.protocols, request.client_id, request.instance_id)
    if group is None:
        brought += len(request.group_id)
    before = 0 if known is None else known.size_bytes - len(known.assignment)
    return context.state.member_memory.has_room(brought - before)


def _has_room(context: EventContext, group: Group, member_id: str) -> bool:
    size_max = context.config.size_max
    member = group.members.get(member_id)
    if group.state is GroupState.PREPARING_REBALANCE:
        # Members of the last generation that have not come back yet hold no place.
        if member is not None and member.join_ticket is not None:
            return True
        return sum(m.join_ticket is not None for m in group.members.values()) < size_max
    return group.state is GroupState.EMPTY or member is not None or len(group.members) < size_max


def _join_new(
    context: EventContext, ticket: Ticket, group: Group, request: JoinRequest
) -> ErrorCode:
    if request.instance_id is not None:
        old_id = group.statics.get(request.instance_id)
        if old_id is not None:
            return _replace_static(context, ticket, group, request, old_id)
        return _add(context, ticket, group, request, request.new_member_id)
    if not request.needs_known_member_id:
        return _add(context, ticket, group, request, request.new_member_id)
    if len(group.pending) >= PENDING_MEMBERS_MAX:
        return ErrorCode.GROUP_MAX_SIZE_REACHED
    group.expect(request.new_member_id)
    pending, timeout_ms = request.new_member_id, request.session_timeout_ms
    context.set_deadline(Timer.PENDING_MEMBER, group, timeout_ms, pending)
    error = ErrorCode.MEMBER_ID_REQUIRED
    context.reply(ticket, JoinReply(error=error, member_id=request.new_member_id))
    return ErrorCode.NONE


def _join_known(
    context: EventContext, ticket: Ticket, group: Group, request: JoinRequest
) -> ErrorCode:
    if request.member_id in group.pending and request.instance_id is None:
        context.cancel_deadline(Timer.PENDING_MEMBER, group, request.member_id)
        return _add(context, ticket, group, request, request.member_id)
    error = group.check_member(request.member_id, request.instance_id)
    if error is not ErrorCode.NONE:
        return error
    answer = ANSWERS[Request.JOIN_AGAIN][group.state]
    if isinstance(answer, ErrorCode):
        return answer
    member = group.members[request.member_id]
    if _may_only_repeat(group, member, request, answer):
        context.reply(ticket, join_reply(group, member))
        renew_session(context, group, member)
        return ErrorCode.NONE
    _update(context, group, member, request, ticket)
    if answer is Action.COMPLETE_JOIN_IF_ALL_HERE:
        try_complete_join(context, group)
    else:
        prepare_rebalance(context, group)
    return ErrorCode.NONE


def _may_only_repeat(group: Group, member: Member, request: JoinRequest, answer: Action) -> bool:
    if answer is Action.COMPLETE_JOIN_IF_ALL_HERE or member.protocols != request.protocols:
        return False
    wants_more = answer is Action.REBALANCE_IF_CHANGED_OR_LEADER
    return not (wants_more and group.leader == member.member_id)


def _add(
    context: EventContext, ticket: Ticket, group: Group, request: JoinRequest, member_id: str
) -> ErrorCode:
    member = Member(
        member_id=member_id,
        instance_id=request.instance_id,
        client_id=request.client_id,
        client_host=request.client_host,
        session_timeout_ms=request.session_timeout_ms,
        rebalance_timeout_ms=request.rebalance_timeout_ms,
        protocols=request.protocols,
        join_ticket=ticket,
        is_new=True,
    )
    group.add(member, request.protocol_type)
    # Only the very first rebalance is put off for each new member, as in Kafka.
    group.new_member_added = group.generation == 0
    context.set_deadline(Timer.SESSION, group, NEW_MEMBER_JOIN_TIMEOUT_MS, member_id)
    carry_out(context, group, ANSWERS[Request.JOIN_NEW][group.state])
    return ErrorCode.NONE


def _update(
    context: EventContext, group: Group, member: Member, request: JoinRequest, ticket: Ticket
) -> None:
    # A join of the same member that still waits is from a connection given up.
    stale = JoinReply(error=ErrorCode.REBALANCE_IN_PROGRESS, member_id=member.member_id)
    context.answer_join(member, stale)
    with group.changing(member):
        member.protocols = request.protocols
        member.client_id = request.client_id
    member.session_timeout_ms = request.session_timeout_ms
    member.rebalance_timeout_ms = request.rebalance_timeout_ms
    member.client_host = request.client_host
    member.join_ticket = ticket


def _replace_static(
    context: EventContext, ticket: Ticket, group: Group, request: JoinRequest, old_id: str
) -> ErrorCode:
    answer = ANSWERS[Request.JOIN_STATIC][group.state]
    if isinstance(answer, ErrorCode):
        return answer
    old_leader, old_protocols = group.leader or "", group.members[old_id].protocols
    member = _take_over(context, group, old_id, request.new_member_id)
    _update(context, group, member, request, ticket)
    renew_session(context, group, member)
    if answer is not Action.REBALANCE_IF_PROTOCOL_CHANGES:
        carry_out(context, group, answer)
    elif group.select_protocol() != group.protocol:
        prepare_rebalance(context, group)
    else:
        reply = _replaced_reply(group, member, request, old_leader)
        undo = (old_id, old_protocols)
        record = GroupRecord(group.group_id, group.to_value())
        context.write([record], partial(_replaced, group, member, ticket, reply, undo))
    return ErrorCode.NONE


def _take_over(context: EventContext, group: Group, old_id: str, new_id: str) -> Member:
    """Gives the static member its new id; requests that wait under the old id are fenced."""
    member = group.members[old_id]
    fenced = ErrorCode.FENCED_INSTANCE_ID
    context.answer_join(member, JoinReply(error=fenced, member_id=old_id))
    context.answer_sync(member, SyncReply(error=fenced))
    end_session(context, group, old_id)
    return group.rename(old_id, new_id)


def _replaced_reply(
    group: Group, member: Member, request: JoinRequest, old_leader: str
) -> JoinReply:
    """The reply of a static member that came back in the state Stable; the generation stays. A new
    client that leads gets skip_assignment; an older client gets its former member id as the
    leader's id, so that it does not assign."""
    reply = join_reply(group, member)
    if not request.may_skip_assignment:
        return replace(reply, leader=old_leader, members=())
    return replace(reply, skip_assignment=reply.leader == member.member_id)


def _replaced(
    group: Group,
    member: Member,
    ticket: Ticket,
    reply: JoinReply,
    undo: tuple[str, tuple[tuple[str, bytes], ...]],
    context: EventContext,
    error: ErrorCode,
) -> None:
    if member.join_ticket != ticket or group.state is not GroupState.STABLE:
        return  # answered or overtaken: a rebalance has begun, or the member was replaced again
    if error is ErrorCode.NONE:
        context.answer_join(member, reply)
        renew_session(context, group, member)
        return
    context.answer_join(member, JoinReply(error=error, member_id=""))
    with group.changing(member):
        old_id, member.protocols = undo
    end_session(context, group, member.member_id)
    group.rename(member.member_id, old_id)
    renew_session(context, group, member)
