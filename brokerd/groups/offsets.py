"""Commits, and the offsets' end: by request, by retention, with their topic.

A commit is a record per partition; it becomes visible when the high watermark has passed it.
Retention, as Kafka's: an empty group's offsets go `offsets.retention` after it became empty; those
of topics that a stable group of consumers no longer reads, and those of a group that never had
members, that long after their commit; a commit that named its own retention, when that is over.
A group that is empty and has no offsets left goes with them; so it does with those that were asked
to go and with those of a deleted topic.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Set
from functools import partial
from itertools import islice

from brokerd.errors import ErrorCode
from brokerd.groups.deadlines import Deadline, Timer
from brokerd.groups.group import Group
from brokerd.groups.members import check_generation
from brokerd.groups.messages import (
    CommitRequest,
    DeleteReply,
    OffsetsReply,
    OffsetToCommit,
    Ticket,
    TopicPartition,
)
from brokerd.groups.records import GroupRecord, GroupsRecord, OffsetRecord, OffsetValue
from brokerd.groups.transitions import ANSWERS, Action, Answer, Event, GroupState, Request
from brokerd.groups.turn import Groups, Turn, ignore_outcome
from brokerd.limits import INT16_MAX

SWEEP_OFFSETS_MAX = 2_000
"""With so many offsets looked at a turn of the sweep ends, so that none takes long; a group counts
as GROUP_OFFSETS more. No more of one group are forgotten at once."""
GROUP_OFFSETS = 40


def commit(turn: Turn, ticket: Ticket, request: CommitRequest) -> None:
    """Write the offsets of a member of this generation, or of an outsider to an empty group."""
    group = turn.shard.groups.get(request.group_id)
    error = _check_commit(turn, group, request)
    if error is not ErrorCode.NONE:
        partitions = [(o.topic, o.partition) for o in request.offsets]
        errors: dict[TopicPartition, ErrorCode] = dict.fromkeys(partitions, error)
        turn.reply(ticket, OffsetsReply(errors, error))
        return
    if group is None:
        turn.shard.groups[request.group_id] = Group(request.group_id, turn.shard.held)
    length_max = turn.config.offset_metadata_length_max
    outcome: dict[TopicPartition, ErrorCode] = {}
    records: list[GroupsRecord] = []
    for offset in request.offsets:
        fits = _fits(offset.metadata, length_max)
        refused = ErrorCode.OFFSET_METADATA_TOO_LARGE
        outcome[offset.topic, offset.partition] = ErrorCode.NONE if fits else refused
        if fits:
            records.append(_offset_record(turn, request, offset))
    if not records:
        turn.reply(ticket, OffsetsReply(outcome))
        return
    turn.write(records, partial(_answer_offsets, ticket, outcome))


def _fits(metadata: str, length_max: int) -> bool:
    """Kafka counts as Java does, in units of UTF-16; a record holds so many bytes of UTF-8."""
    if metadata.isascii():
        return len(metadata) <= length_max
    units = len(metadata.encode("utf-16-le")) // 2
    return units <= length_max and len(metadata.encode()) <= INT16_MAX


def _check_commit(turn: Turn, group: Group | None, request: CommitRequest) -> ErrorCode:
    outsider = request.generation < 0
    if group is None:
        # A member of a group that is not known here belongs to another life of it.
        return ErrorCode.NONE if outsider else ErrorCode.ILLEGAL_GENERATION
    if outsider and group.state is GroupState.EMPTY:
        return ErrorCode.NONE
    if outsider and not request.member_id and request.instance_id is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    error = check_generation(group, request.member_id, request.instance_id, request.generation)
    if error is not ErrorCode.NONE:
        return error
    answer = ANSWERS[Request.COMMIT][group.state]
    if isinstance(answer, ErrorCode):
        return answer
    turn.renew_session(group, group.members[request.member_id])
    return ErrorCode.NONE


def _offset_record(turn: Turn, request: CommitRequest, offset: OffsetToCommit) -> OffsetRecord:
    retention_ms = request.retention_ms
    expire_at_ms = None if retention_ms is None else turn.now_ms + retention_ms
    value = OffsetValue(
        offset.offset, offset.leader_epoch, offset.metadata, turn.now_ms, expire_at_ms
    )
    return OffsetRecord(request.group_id, offset.topic, offset.partition, value)


def _answer_offsets(
    ticket: Ticket, outcome: dict[TopicPartition, ErrorCode], turn: Turn, error: ErrorCode
) -> None:
    if error is not ErrorCode.NONE:
        outcome = {key: error if one is ErrorCode.NONE else one for key, one in outcome.items()}
    turn.reply(ticket, OffsetsReply(outcome))


# Removal


def delete_group(turn: Turn, ticket: Ticket, group_id: str) -> None:
    """Remove an empty group with its offsets."""
    group = turn.shard.groups.get(group_id)
    answer: Answer = ErrorCode.GROUP_ID_NOT_FOUND
    if group is not None:
        answer = ANSWERS[Request.DELETE_GROUP][group.state]
    if isinstance(answer, ErrorCode):
        turn.reply(ticket, DeleteReply(answer))
        return
    assert group is not None
    records = _drop_group(turn, group, _all_offsets(turn.shard, group_id))
    turn.write(records, partial(_group_dropped, group_id, ticket))


def _all_offsets(shard: Groups, group_id: str) -> set[TopicPartition]:
    """Every partition with an offset, one in a write under way included."""
    committed = shard.store.offsets.get(group_id, {})
    return committed.keys() | shard.pending_offsets.get(group_id, {}).keys()


def _drop_group(turn: Turn, group: Group, offsets: Iterable[TopicPartition]) -> list[GroupsRecord]:
    """Forget the group; returns the tombstones that say so. Whoever joins now founds a new one,
    whose records come later in the log."""
    group.move(Event.REMOVED, turn.now_ms)
    del turn.shard.groups[group.group_id]
    group.forget_name()
    for member_id in tuple(group.pending):
        key = Deadline(Timer.PENDING_MEMBER, group.group_id, member_id)
        turn.shard.deadlines.cancel(key)
        group.expect_no_more(member_id)
    records = _tombstones(group.group_id, offsets)
    if group.generation > 0:  # without one the group never had a record of its own
        records.append(GroupRecord(group.group_id, None))
    return records


def _tombstones(group_id: str, offsets: Iterable[TopicPartition]) -> list[GroupsRecord]:
    return [OffsetRecord(group_id, topic, index, None) for topic, index in sorted(offsets)]


def _group_dropped(group_id: str, ticket: Ticket | None, turn: Turn, error: ErrorCode) -> None:
    shard = turn.shard
    if error is not ErrorCode.NONE and group_id not in shard.groups:
        # The log still has it, so it still is.
        stored = shard.store.groups.get(group_id)
        shard.groups[group_id] = Group.from_stored(group_id, stored, shard.held)
    if ticket is not None:
        turn.reply(ticket, DeleteReply(error))


def delete_offsets(
    turn: Turn, ticket: Ticket, group_id: str, partitions: tuple[TopicPartition, ...]
) -> None:
    """Remove offsets, but of topics that the group reads just now."""
    group = turn.shard.groups.get(group_id)
    answer: Answer = ErrorCode.GROUP_ID_NOT_FOUND
    if group is not None:
        answer = ANSWERS[Request.DELETE_OFFSETS][group.state]
    if isinstance(answer, ErrorCode):
        turn.reply(ticket, OffsetsReply(dict.fromkeys(partitions, answer), answer))
        return
    assert group is not None
    if answer is Action.UNLESS_SUBSCRIBED and group.protocol_type != "consumer":
        refused = ErrorCode.NON_EMPTY_GROUP
        turn.reply(ticket, OffsetsReply(dict.fromkeys(partitions, refused), refused))
        return
    topics = group.subscribed_topics() if answer is Action.UNLESS_SUBSCRIBED else frozenset()
    outcome = {
        key: ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
        if topics is None or key[0] in topics
        else ErrorCode.NONE
        for key in partitions
    }
    known = _all_offsets(turn.shard, group_id)
    removed = {k for k, error in outcome.items() if error is ErrorCode.NONE and k in known}
    records = _remove(turn, group, removed)
    if not records:
        turn.reply(ticket, OffsetsReply(outcome))
        return
    gone = {group_id} - turn.shard.groups.keys()
    turn.write(records, partial(_offsets_removed, gone, ticket, outcome))


def _remove(turn: Turn, group: Group, offsets: Collection[TopicPartition]) -> list[GroupsRecord]:
    """The tombstones of these offsets, and the group's own where it is empty and keeps none."""
    shard, group_id = turn.shard, group.group_id
    keeps = len(shard.store.offsets.get(group_id, ())) > len(offsets)
    if keeps or group.state is not GroupState.EMPTY or shard.pending_offsets.get(group_id):
        return _tombstones(group_id, offsets)
    if group.pending or shard.store.awaits(group_id):  # someone is just about to join, or to commit
        return _tombstones(group_id, offsets)
    return _drop_group(turn, group, offsets)


def _offsets_removed(
    gone: set[str], ticket: Ticket, outcome: dict[TopicPartition, ErrorCode], turn: Turn,
    error: ErrorCode,
) -> None:  # fmt: skip
    _groups_dropped(gone, turn, error)
    _answer_offsets(ticket, outcome, turn, error)


def forget_topics(turn: Turn, topics: Set[str]) -> None:
    """Remove every offset of topics that were deleted."""
    shard = turn.shard
    records: list[GroupsRecord] = []
    for group in list(shard.groups.values()):
        offsets = shard.store.offsets.get(group.group_id, {})
        records += _remove(turn, group, [key for key in offsets if key[0] in topics])
    if records:
        gone = {each.group_id for each in records} - shard.groups.keys()
        turn.write(records, partial(_groups_dropped, gone))


def _groups_dropped(gone: set[str], turn: Turn, error: ErrorCode) -> None:
    for group_id in gone:
        _group_dropped(group_id, None, turn, error)


# Retention


def sweep(turn: Turn) -> None:
    """Look at some groups for offsets whose time is over, and come back for the rest."""
    shard = turn.shard
    if not shard.sweep:
        shard.sweep = list(shard.groups)
    left = SWEEP_OFFSETS_MAX
    while shard.sweep and left > 0:
        group = shard.groups.get(shard.sweep.pop())
        if group is not None:
            left -= GROUP_OFFSETS + len(shard.store.offsets.get(group.group_id, ()))
            _expire(turn, group)
    pause_ms = 0 if shard.sweep else turn.config.offsets_retention_check_ms
    shard.deadlines.set(Deadline(Timer.OFFSETS_SWEEP), turn.now_ms + pause_ms)


def _expire(turn: Turn, group: Group) -> None:
    shard, group_id = turn.shard, group.group_id
    pending = shard.pending_offsets.get(group_id) or Counter()
    offsets = shard.store.offsets.get(group_id, {})
    read_now = group.subscribed_topics() if group.state is GroupState.STABLE else frozenset()
    if read_now is None:
        return
    expirable = (
        key
        for key, value in offsets.items()
        if key not in pending and key[0] not in read_now and _is_expired(turn, group, value)
    )
    expired = list(islice(expirable, SWEEP_OFFSETS_MAX))
    if len(expired) == SWEEP_OFFSETS_MAX < len(offsets):
        turn.write(_tombstones(group_id, expired), partial(_expire_more, group_id))
    elif group.state is GroupState.EMPTY and not pending and len(expired) == len(offsets):
        if group.pending or shard.store.awaits(group_id):
            return  # someone is just about to join, or to commit
        records = _drop_group(turn, group, expired)
        if records:
            turn.write(records, partial(_group_dropped, group_id, None))
    elif expired:
        turn.write(_tombstones(group_id, expired), ignore_outcome)


def _expire_more(group_id: str, turn: Turn, error: ErrorCode) -> None:
    """Some offsets of a group are gone: it is looked at for others in the next turn."""
    if error is ErrorCode.NONE:
        turn.shard.sweep.append(group_id)
        turn.shard.deadlines.set(Deadline(Timer.OFFSETS_SWEEP), turn.now_ms)


def _is_expired(turn: Turn, group: Group, value: OffsetValue) -> bool:
    """Of an offset in a topic that the group does not read just now."""
    if group.protocol_type is None:
        since_ms = value.committed_at_ms
    elif group.state is GroupState.EMPTY:
        since_ms = group.state_since_ms if group.state_since_ms >= 0 else value.committed_at_ms
    elif group.state is GroupState.STABLE:
        since_ms = value.committed_at_ms
    else:
        return False
    if value.expire_at_ms is not None:
        return turn.now_ms >= value.expire_at_ms
    return turn.now_ms - since_ms >= turn.config.offsets_retention_ms
