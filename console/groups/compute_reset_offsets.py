"""The ways to reset offsets (ResetTo): the new offset of each partition, and its effect. Pure.

A reset by offset or file has exact offsets: one outside the log is refused. A shift, and offsets
copied from another group, are limited to the log, as kafka-consumer-groups does it. A time later
than the newest record is the end of the log.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from django.utils.translation import gettext as _

from console.ui.setting_units import InvalidQuantity, Unit, number_with_unit
from console.ui.texts import first_lines
from monitoring.gateway.topic_partition import TopicPartition
from monitoring.lag.formula import counted_lag

PARTITIONS_MAX = 5000


class ResetTo(StrEnum):
    """The ways to choose the new offsets."""

    EARLIEST = "earliest"
    LATEST = "latest"
    OFFSET = "offset"
    TIME = "time"
    DURATION = "duration"
    SHIFT = "shift"
    FILE = "file"
    GROUP = "group"


class InvalidInput(Exception):
    """What a user entered cannot be used; the message says why."""


@dataclass(frozen=True, slots=True)
class CommitInLog:
    """A partition now: the committed offset (None = never committed), and the log's offsets."""

    committed: int | None
    log: range

    def limited(self, offset: int) -> int:
        """The offset, or the nearest one in the log or at its end."""
        return max(self.log.start, min(offset, self.log.stop))

    def holds(self, offset: int) -> bool:
        """Whether the offset is in the log or its end, where the next record will be."""
        return self.log.start <= offset <= self.log.stop


@dataclass(frozen=True, slots=True)
class ResetEffect:
    """What a new offset causes: records read again, records skipped, the lag afterwards.

    A partition that was never committed has neither: where its consumers would have begun depends
    on their `auto.offset.reset`.
    """

    read_again: int = 0
    skipped: int = 0
    lag: int | None = None  # None = no commit afterwards


def reset_effect(commit: CommitInLog, new: int | None) -> ResetEffect:
    """The effect of committing `new` instead; None = the commit is deleted."""
    if new is None:
        return ResetEffect()
    lag = int(counted_lag(new, commit.log.stop))
    if commit.committed is None:
        return ResetEffect(lag=lag)
    # Records that were deleted are neither read again nor skipped.
    then, now = (commit.limited(offset) for offset in (commit.committed, new))
    return ResetEffect(max(0, then - now), max(0, now - then), lag)


def duration_ms(text: str) -> int:
    """The milliseconds of a text such as "90 min" or "2 h". Raises InvalidInput."""
    try:
        return number_with_unit(text, Unit.MS)
    except InvalidQuantity as error:
        raise InvalidInput(_("Enter a number and a unit: 30 s, 15 min, 2 h or 7 d.")) from error


def new_offsets(
    reset_to: ResetTo,
    commits: Mapping[TopicPartition, CommitInLog],
    *,
    number: int = 0,
    given: Mapping[TopicPartition, int | None] | None = None,
) -> dict[TopicPartition, int]:
    """The new offset of each partition; without those for which there is none.

    `number`: the offset, or by how much to shift. `given`: the offsets of a file, of another group
    or at a time. Raises InvalidInput if an exact offset is outside of a log.
    """
    given = given or {}
    found: dict[TopicPartition, int | None] = {}
    for key, commit in commits.items():
        match reset_to:
            case ResetTo.EARLIEST:
                found[key] = commit.log.start
            case ResetTo.LATEST:
                found[key] = commit.log.stop
            case ResetTo.OFFSET:
                found[key] = number
            case ResetTo.SHIFT:
                then = commit.committed
                found[key] = None if then is None else commit.limited(then + number)
            case ResetTo.TIME | ResetTo.DURATION:
                at = given.get(key)
                found[key] = commit.log.stop if at is None else at
            case ResetTo.FILE:
                found[key] = given.get(key)
            case ResetTo.GROUP:
                other = given.get(key)
                found[key] = None if other is None else commit.limited(other)
    chosen = {key: offset for key, offset in found.items() if offset is not None}
    _refuse_outside(commits, chosen)
    return chosen


def _refuse_outside(
    commits: Mapping[TopicPartition, CommitInLog], offsets: Mapping[TopicPartition, int]
) -> None:
    outside = [key for key, offset in offsets.items() if not commits[key].holds(offset)]
    if outside:
        text = _(
            "Offset %(offset)d is not in partition %(partition)d of “%(topic)s”, which has "
            "%(range)s."
        )
        lines = [
            text
            % {
                "offset": offsets[key],
                "topic": key[0],
                "partition": key[1],
                "range": f"{commits[key].log.start}–{commits[key].log.stop}",
            }
            for key in outside
        ]
        raise InvalidInput(first_lines(lines))
