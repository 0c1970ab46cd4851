"""Finds where a follower truncates its log (AbstractFetcherThread.getOffsetTruncationState).

Pure. As in Kafka (KIP-101, KIP-279), the follower names its last epoch, and the leader answers the
largest epoch at or below it with its end. A follower that does not know that epoch cuts to the end
of its own next lower one and asks again. It cuts to the high watermark only if the leader answers
no epoch.
"""

from collections.abc import Callable
from typing import NamedTuple

from brokerd.log.leader_epoch_file_cache import NO_EPOCH, NO_OFFSET


class OffsetTruncationState(NamedTuple):
    """The log is cut to `offset`. If that is not `final`, the follower asks the leader again, with
    the last epoch that its log then has."""

    offset: int
    final: bool


def offset_truncation_state(
    asked_epoch: int,
    leader_answer: tuple[int, int],
    own_end_offset_for: Callable[[int], tuple[int, int]],
    log_end_offset: int,
    high_watermark: int,
) -> OffsetTruncationState:
    """Where a follower cuts its log, given the leader's (epoch, end offset) for `asked_epoch`.

    `own_end_offset_for` answers the same question from the follower's own log.
    """
    leader_epoch, leader_end = leader_answer
    if leader_epoch == NO_EPOCH or leader_end == NO_OFFSET:
        return OffsetTruncationState(min(high_watermark, log_end_offset), True)
    if leader_epoch == asked_epoch:
        return OffsetTruncationState(min(leader_end, log_end_offset), True)
    own_epoch, own_end = own_end_offset_for(leader_epoch)
    if own_end == NO_OFFSET:
        return OffsetTruncationState(min(leader_end, log_end_offset), True)
    if own_epoch == leader_epoch:
        return OffsetTruncationState(min(leader_end, own_end, log_end_offset), True)
    return OffsetTruncationState(min(own_end, log_end_offset), False)
