"""Expiration of offsets (Kafka's OffsetMetadataManager.cleanupExpiredOffsets).
`offsets.retention.minutes` counts, as in Kafka, from when the group became empty; from the commit
for a group that never had members, and for topics that a stable group no longer subscribes to. An
empty group is removed with its last offset.
"""

from collections import Counter
from functools import partial
from itertools import islice

from brokerd.coordinator.group.coordinator_context import EventContext, ignore_outcome
from brokerd.coordinator.group.coordinator_timer import Deadline, Timer
from brokerd.coordinator.group.delete_groups import drop_group, groups_dropped, tombstones
from brokerd.coordinator.group.group_coordinator_record_serde import OffsetValue
from brokerd.coordinator.group.group_metadata import Group
from brokerd.coordinator.group.group_states import GroupState
from brokerd.errors import ErrorCode

SWEEP_OFFSETS_MAX = 2_000
"""One slice of the sweep looks at so many offsets, so that none takes long; a group counts
as GROUP_OFFSETS more. No more of one group are forgotten at once."""
GROUP_OFFSETS = 40


def sweep(context: EventContext) -> None:
    """Removes the expired offsets of some groups, and schedules the sweep of the others."""
    state = context.state
    if not state.sweep:
        state.sweep = list(state.groups)
    left = SWEEP_OFFSETS_MAX
    while state.sweep and left > 0:
        group = state.groups.get(state.sweep.pop())
        if group is not None:
            left -= GROUP_OFFSETS + len(state.store.offsets.get(group.group_id, ()))
            _expire(context, group)
    pause_ms = 0 if state.sweep else context.config.offsets_retention_check_ms
    state.deadlines.set(Deadline(Timer.OFFSETS_SWEEP), context.now_ms + pause_ms)


def _expire(context: EventContext, group: Group) -> None:
    state, group_id = context.state, group.group_id
    pending = state.pending_offsets.get(group_id) or Counter()
    offsets = state.store.offsets.get(group_id, {})
    read_now = group.subscribed_topics() if group.state is GroupState.STABLE else frozenset()
    if read_now is None:
        return
    expirable = (
        key
        for key, value in offsets.items()
        if key not in pending and key[0] not in read_now and _is_expired(context, group, value)
    )
    expired = list(islice(expirable, SWEEP_OFFSETS_MAX))
    if len(expired) == SWEEP_OFFSETS_MAX < len(offsets):
        context.write(tombstones(group_id, expired), partial(_expire_more, group_id))
    elif group.state is GroupState.EMPTY and not pending and len(expired) == len(offsets):
        if group.pending or state.store.has_open_transaction(group_id):
            return  # someone is just about to join, or to commit
        records = drop_group(context, group, expired)
        if records:
            context.write(records, partial(groups_dropped, {group_id}))
    elif expired:
        context.write(tombstones(group_id, expired), ignore_outcome)


def _expire_more(group_id: str, context: EventContext, error: ErrorCode) -> None:
    """Some offsets of a group were removed: schedule the next part of its sweep at once."""
    if error is ErrorCode.NONE:
        context.state.sweep.append(group_id)
        context.state.deadlines.set(Deadline(Timer.OFFSETS_SWEEP), context.now_ms)


def _is_expired(context: EventContext, group: Group, value: OffsetValue) -> bool:
    """Whether an offset is expired, of a topic that the group does not subscribe to."""
    if group.protocol_type is None:
        since_ms = value.committed_at_ms
    elif group.state is GroupState.EMPTY:
        since_ms = group.state_since_ms if group.state_since_ms >= 0 else value.committed_at_ms
    elif group.state is GroupState.STABLE:
        since_ms = value.committed_at_ms
    else:
        return False
    if value.expire_at_ms is not None:
        return context.now_ms >= value.expire_at_ms
    return context.now_ms - since_ms >= context.config.offsets_retention_ms
