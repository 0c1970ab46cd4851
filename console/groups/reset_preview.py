"""What a reset would change, partition by partition, for the preview beside its form. Pure.

All lines are drawn on one scale, counted back from the end of each log: the newest record is at
the right, and the partition that moves farthest from its end fills the line. A log that begins
farther back has a break at the left.
"""

from dataclasses import dataclass

from console.actions.draft import Figure
from console.groups.changes.new_offsets import CommitInLog, Move, move
from console.groups.changes.offsets import figures_of
from console.groups.reset import ResolvedReset

ROWS_MAX = 100
# In units of the drawing, which is 260 wide.
_START, _FIRST, _END = 4.0, 28.0, 254.0


@dataclass(frozen=True, slots=True)
class Line:
    """Positions in the drawing of one partition. `committed` and `new` are None if there is no
    such offset; `is_broken`: the log begins before what is drawn."""

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
    topic: str
    partition: int
    committed: int | None
    new: int | None  # None = it stays as it is
    move: Move
    line: Line


@dataclass(frozen=True, slots=True)
class Preview:
    rows: list[PreviewRow]  # at most ROWS_MAX
    count: int
    changed: int
    figures: list[Figure]
    has_topics: bool  # more than one


def preview_of(resolved: ResolvedReset) -> Preview:
    places, offsets = resolved.places, resolved.offsets
    moves = {key: move(places[key], new) for key, new in offsets.items()}
    reach = max((_reach(places[key], offsets.get(key)) for key in places), default=0)
    rows = [
        PreviewRow(
            topic,
            partition,
            place.committed,
            offsets.get((topic, partition)),
            moves.get((topic, partition), Move()),
            _line(place, offsets.get((topic, partition)), reach),
        )
        for (topic, partition), place in list(places.items())[:ROWS_MAX]
    ]
    return Preview(
        rows,
        len(places),
        len(resolved.changed),
        figures_of(list(moves.values())),
        len({topic for topic, _partition in places}) > 1,
    )


def _reach(place: CommitInLog, new: int | None) -> int:
    """How far before the end of its log the committed or the new offset is."""
    offsets = [place.limited(each) for each in (place.committed, new) if each is not None]
    return place.log.stop - min(offsets, default=place.log.stop)


def _line(place: CommitInLog, new: int | None, reach: int) -> Line:
    def position(offset: int) -> float:
        back = place.log.stop - place.limited(offset)
        return round(_END - (_END - _FIRST) * back / reach, 1) if reach else _END

    is_broken = place.log.stop - place.log.start > reach
    committed = place.committed
    return Line(
        start=_START if is_broken else position(place.log.start),
        is_broken=is_broken,
        committed=None if committed is None else position(committed),
        new=None if new is None else position(new),
    )
