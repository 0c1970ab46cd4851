"""Marks above a log diagram (log_diagram.py): committed offsets, the ends of the log, what was
looked up. Pure.

A mark is a stem with a label beside it. Labels are in rows so that none covers another, nor a stem;
one that has no room is left out, and the tooltip of its mark has the text. Widths of texts are
estimated for the narrowest diagram, of WIDTH_PX.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from console.segments.log_diagram_scale import Scale
from console.ui import numbers

WIDTH_PX = 860
CHARACTER_PERCENT = 100 * 6.4 / WIDTH_PX  # the width of a character
ROWS_MAX = 5
_NAME_LENGTH_MAX = 28
_DISTANCE_MIN = 0.8  # in percent; commits that are nearer to each other share a mark

LOOKED_UP, RETENTION, LIMIT, GROUP = "looked-up", "retention", "limit", "group"
COMMITS_IN_TITLE_MAX = 30


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark; `x` in percent, `row` of its label from the diagram upwards, `anchor` as in SVG."""

    kind: str
    x: float
    label: str
    title: str
    row: int = 0
    anchor: str = "start"

    @property
    def left(self) -> float:
        """The left end of the label, in percent."""
        return self.x if self.anchor == "start" else self.x - self._width

    @property
    def right(self) -> float:
        return self.x + self._width if self.anchor == "start" else self.x

    @property
    def _width(self) -> float:
        return CHARACTER_PERCENT * len(self.label) + 1.5


def group_marks(scale: Scale, commits: Iterable[tuple[str, int]]) -> list[Mark]:
    """Marks of `commits`, pairs of a group and its committed offset; from the end of the log."""
    adjacent: list[list[tuple[float, str, int]]] = []
    found = ((scale.at_offset(offset), name, offset) for name, offset in commits)
    for commit in sorted(found, reverse=True):
        if adjacent and adjacent[-1][0][0] - commit[0] < _DISTANCE_MIN:
            adjacent[-1].append(commit)
        else:
            adjacent.append([commit])
    return [_group_mark(commits) for commits in adjacent]


def _group_mark(commits: Sequence[tuple[float, str, int]]) -> Mark:
    """The mark of commits that are (x, group, offset)."""
    commits = sorted(commits, key=lambda commit: commit[1])
    lines = [
        f"{name}: {numbers.count(offset)}" for _x, name, offset in commits[:COMMITS_IN_TITLE_MAX]
    ]
    more = len(commits) - COMMITS_IN_TITLE_MAX
    if more > 0:
        lines.append(ngettext("and %(n)d more", "and %(n)d more", more) % {"n": more})
    title = "\n".join([_("Committed offsets"), *lines])
    x, name, offset = commits[0]
    if len(name) > _NAME_LENGTH_MAX:
        name = f"{name[: _NAME_LENGTH_MAX - 1]}…"
    if len(commits) > 1:
        others = len(commits) - 1
        text = ngettext("%(name)s and %(n)d more", "%(name)s and %(n)d more", others)
        return Mark(GROUP, x, text % {"name": name, "n": others}, title)
    text = _("%(name)s at %(offset)s") % {"name": name, "offset": numbers.count(offset)}
    return Mark(GROUP, x, text, title)


def limit_marks(scale: Scale, limits: Iterable[tuple[str, int]]) -> list[Mark]:
    """Marks of `limits`, pairs of a name and an offset, except at the ends of the diagram."""
    first, end = scale.offsets[0], scale.offsets[-1]
    found = []
    for name, offset in limits:
        if first < offset < end:
            text = f"{name} {numbers.count(offset)}"
            found.append(Mark(LIMIT, scale.at_offset(offset), text, text))
    return found


def with_label_rows(marks: Iterable[Mark]) -> list[Mark]:
    """The marks with the rows of their labels.

    A label stands to the right of its stem, or to the left where the right has no room. Each takes
    the lowest row in which it collides with no label placed before: labels to the right are placed
    from right to left, then the others from left to right.
    """
    anchored = [mark if mark.right <= 100 else replace(mark, anchor="end") for mark in marks]
    to_right = sorted((each for each in anchored if each.anchor == "start"), key=_x, reverse=True)
    to_left = sorted((each for each in anchored if each.anchor == "end"), key=_x)
    placed: list[Mark] = []
    for each in (*to_right, *to_left):
        placed.append(_with_free_row(each, placed))
    return placed


def _x(mark: Mark) -> float:
    return mark.x


def _with_free_row(new: Mark, placed: Sequence[Mark]) -> Mark:
    # The last row is not for groups: there may be many.
    for row in range(ROWS_MAX - 1 if new.kind == GROUP else ROWS_MAX):
        candidate = replace(new, row=row)
        if not any(_collide(candidate, each) for each in placed):
            return candidate
    return replace(new, label="")


def _collide(one: Mark, other: Mark) -> bool:
    """Whether labels overlap, or the stem of one goes through the other's label."""
    if not other.label:
        return False
    if one.row == other.row:
        return one.left < other.right and other.left < one.right
    upper, lower = sorted((one, other), key=lambda each: each.row, reverse=True)
    return lower.left <= upper.x <= lower.right
