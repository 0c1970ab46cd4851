"""The joins that wait for a rebalance (Kafka's DelayedJoin and InitialDelayedJoin).

    prepare_rebalance ─▶ joins wait ─▶ complete_join: new generation, joins answered
    ─▶ syncs wait ─▶ the leader's assignment is written ─▶ syncs answered (sync_group.py)

- The first rebalance of an empty group waits `group.initial.rebalance.delay.ms` for more members,
  again after each new member, at most for the longest rebalance timeout
  (`Group.is_initial_delay`, set in `prepare_rebalance`, prolonged in `end_joins`).
- Any other ends as soon as all members joined again, at the latest after the longest rebalance
  timeout; then members that did not join are removed, static ones only when their session is over.
"""

from brokerd.coordinator.group.coordinator_context import EventContext, ignore_outcome
from brokerd.coordinator.group.coordinator_timer import Timer
from brokerd.coordinator.group.group_coordinator_record_serde import GroupRecord
from brokerd.coordinator.group.group_metadata import Group, Member
from brokerd.coordinator.group.group_states import Action, Event, GroupState
from brokerd.coordinator.group.heartbeat import end_session, renew_session
from brokerd.coordinator.group.messages import JoinReply, SyncReply
from brokerd.errors import ErrorCode


def prepare_rebalance(
    context: EventContext, group: Group, error: ErrorCode = ErrorCode.REBALANCE_IN_PROGRESS
) -> None:
    """Starts a rebalance: delayed syncs are answered `error`, and all members must join again."""
    _fail_syncs(context, group, error)
    context.cancel_deadline(Timer.SYNC, group)
    delay_ms = context.config.initial_rebalance_delay_ms
    group.is_initial_delay = group.state is GroupState.EMPTY
    group.move(Event.REBALANCE, context.now_ms)
    if group.is_initial_delay:
        group.initial_delay_left_ms = max(group.rebalance_timeout_ms - delay_ms, 0)
        group.new_member_added = False
        context.set_deadline(Timer.JOIN, group, delay_ms)
        return
    _await_joins(context, group)
    try_complete_join(context, group)


def carry_out(context: EventContext, group: Group, answer: ErrorCode | Action) -> None:
    """Carries out the answer of `ANSWERS` to a change of membership."""
    if answer is Action.REBALANCE:
        prepare_rebalance(context, group)
    elif answer is Action.COMPLETE_JOIN_IF_ALL_HERE:
        try_complete_join(context, group)


def try_complete_join(context: EventContext, group: Group) -> None:
    """Ends the joining early if all members joined (never the initial delay)."""
    if not group.is_initial_delay and group.all_joined:
        complete_join(context, group)


def end_joins(context: EventContext, group: Group) -> None:
    if group.is_initial_delay and group.new_member_added and group.initial_delay_left_ms > 0:
        delay_ms = min(context.config.initial_rebalance_delay_ms, group.initial_delay_left_ms)
        group.initial_delay_left_ms -= delay_ms
        group.new_member_added = False
        context.set_deadline(Timer.JOIN, group, delay_ms)
        return
    complete_join(context, group)


def complete_join(context: EventContext, group: Group) -> None:
    """Begins a new generation with the members that joined."""
    absent = [m for m in group.members.values() if m.join_ticket is None and m.instance_id is None]
    for member in absent:
        end_session(context, group, member.member_id)
        group.remove(member.member_id)
    if group.members and not group.elect_joined_leader():
        _await_joins(context, group)  # only static members left, none here: their sessions decide
        return
    group.is_initial_delay = False
    context.cancel_deadline(Timer.JOIN, group)
    group.generation += 1
    group.unsynced.clear()
    if group.members:
        group.protocol = group.select_protocol()
        group.move(Event.JOINED, context.now_ms)
        _answer_joins(context, group)
        return
    group.protocol = group.leader = None
    group.move(Event.EMPTIED, context.now_ms)
    context.write([GroupRecord(group.group_id, group.to_value())], ignore_outcome)


def join_reply(group: Group, member: Member) -> JoinReply:
    """The reply of a joined member; only the leader gets the list of members."""
    leads = member.member_id == group.leader
    return JoinReply(
        member_id=member.member_id,
        generation=group.generation,
        protocol_type=group.protocol_type,
        protocol=group.protocol,
        leader=group.leader or "",
        members=group.member_values() if leads else (),
    )


def _answer_joins(context: EventContext, group: Group) -> None:
    for member in group.members.values():
        if member.join_ticket is not None:
            context.answer_join(member, join_reply(group, member))
            renew_session(context, group, member)
        member.is_new = False
        group.unsynced.add(member.member_id)
    context.set_deadline(Timer.SYNC, group, group.rebalance_timeout_ms)


def _await_joins(context: EventContext, group: Group) -> None:
    context.set_deadline(Timer.JOIN, group, group.rebalance_timeout_ms)


def _fail_syncs(context: EventContext, group: Group, error: ErrorCode) -> None:
    """Answers every delayed sync with `error`, and drops the assignments."""
    for member in group.members.values():
        if group.state is GroupState.COMPLETING_REBALANCE:
            group.assign(member, b"")
        if member.sync_ticket is not None:
            context.answer_sync(member, SyncReply(error=error))
            renew_session(context, group, member)
