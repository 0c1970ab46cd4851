"""What a reset would change, partition by partition, for the preview beside its form. Pure.

All lines are drawn on one scale, counted back from the end of each log: the newest record is at
the right, and the partition that moves farthest from its end fills the line. A log that begins
farther back has a break at the left.
"""

from dataclasses import dataclass

from console.actions.draft import Figure
from console.groups.actions.reset_offsets import figures_of
from console.groups.compute_reset_offsets import CommitInLog, ResetEffect, reset_effect
from console.groups.read_partitions_to_reset import ResolvedReset

ROWS_MAX = 100
# In units of the drawing, which is 260 wide: the start of a log with a break, the offset that is
# farthest from its end, and the end of all logs.
_BROKEN_START, _FARTHEST, _END = 4.0, 28.0, 254.0


@dataclass(frozen=True, slots=True)
class Line:
    """The drawing of one partition: positions on its line.

    Attributes:
        committed, new: None = there is no such offset.
        is_broken: the log begins before what is drawn.
        left, width: the bar between `committed` and `new`.
    """

    start: float
    is_broken: bool
    committed: float | None
    new: float | None
    end: float = _END

    @property
    def left(self) -> float:
        return min(self._ends)

    @property
    def width(self) -> float:
        return max(self._ends) - min(self._ends)

    @property
    def _ends(self) -> tuple[float, float]:
        if self.committed is None or self.new is None:
            return _END, _END
        return self.committed, self.new


@dataclass(frozen=True, slots=True)
class PreviewRow:
    """A partition in the preview."""

    topic: str
    partition: int
    committed: int | None
    new: int | None  # None = it stays as it is
    effect: ResetEffect
    line: Line


@dataclass(frozen=True, slots=True)
class Preview:
    """The preview of a reset."""

    rows: list[PreviewRow]  # at most ROWS_MAX
    count: int  # of all chosen partitions
    changed: int  # of those that get another offset
    figures: list[Figure]
    has_topics: bool  # more than one


def preview_of(resolved: ResolvedReset) -> Preview:
    """The rows and the sums of a reset, as its preview draws them."""
    commits, offsets = resolved.commits, resolved.offsets
    effects = {key: reset_effect(commits[key], new) for key, new in offsets.items()}
    distance_max = max(
        (_distance_from_end(commits[key], offsets.get(key)) for key in commits), default=0
    )
    rows = [
        PreviewRow(
            topic,
            partition,
            commit.committed,
            offsets.get((topic, partition)),
            effects.get((topic, partition), ResetEffect()),
            _line(commit, offsets.get((topic, partition)), distance_max),
        )
        for (topic, partition), commit in list(commits.items())[:ROWS_MAX]
    ]
    return Preview(
        rows,
        len(commits),
        len(resolved.changed),
        figures_of(list(effects.values())),
        len({topic for topic, _partition in commits}) > 1,
    )


def _distance_from_end(commit: CommitInLog, new: int | None) -> int:
    """How far before the end of its log the committed or the new offset is."""
    offsets = [commit.limited(each) for each in (commit.committed, new) if each is not None]
    return commit.log.stop - min(offsets, default=commit.log.stop)


def _line(commit: CommitInLog, new: int | None, distance_max: int) -> Line:
    def position(offset: int) -> float:
        if not distance_max:
            return _END
        distance = commit.log.stop - commit.limited(offset)
        return round(_END - (_END - _FARTHEST) * distance / distance_max, 1)

    is_broken = commit.log.stop - commit.log.start > distance_max
    committed = commit.committed
    return Line(
        start=_BROKEN_START if is_broken else position(commit.log.start),
        is_broken=is_broken,
        committed=None if committed is None else position(committed),
        new=None if new is None else position(new),
    )
