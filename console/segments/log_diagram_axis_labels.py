"""The labels of the two axes below a log diagram (log_diagram.py): offsets where segments begin,
and times. Pure.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from django.utils import dateformat

from console.segments.log_diagram_marks import CHARACTER_PERCENT
from console.segments.log_diagram_scale import Scale
from console.ui import numbers

_MINUTE, _HOUR, _DAY = 60_000, 3_600_000, 86_400_000
_STEPS = (
    *(n * _MINUTE for n in (1, 5, 15, 30)),
    *(n * _HOUR for n in (1, 3, 6, 12)),
    *(n * _DAY for n in (1, 2, 7, 14, 28, 91, 365, 3650)),
)
_LABELS_MAX = 9
_STEPS_MAX = 1000  # timestamps can be centuries apart
_GAP_PERCENT = 2.0  # between labels


@dataclass(frozen=True, slots=True)
class AxisLabel:
    """A label of an axis: `x` in percent, `anchor` as in SVG."""

    x: float
    text: str
    anchor: str = "middle"


def offset_labels(scale: Scale) -> list[AxisLabel]:
    """The first and the last offset, and those between them that have room."""
    labels = [numbers.count(offset) for offset in scale.offsets]
    last = AxisLabel(100.0, labels[-1], "end")
    first = AxisLabel(0.0, labels[0], "start")
    middle = (AxisLabel(x, label) for x, label in zip(scale.edges[1:-1], labels[1:-1], strict=True))
    return _without_overlaps([first], middle, last)


def time_labels(scale: Scale) -> list[AxisLabel]:
    """Labels at whole minutes, hours or days; none if the times are not known."""
    if not scale.times_ms:
        return []
    start_ms, end_ms = scale.times_ms[0], scale.times_ms[-1]
    step_ms = next(
        (step for step in _STEPS if (end_ms - start_ms) / step <= _LABELS_MAX), _STEPS[-1]
    )
    first_ms = -(-start_ms // step_ms) * step_ms  # rounded up
    found = []
    for at_ms in range(first_ms, min(end_ms, first_ms + _STEPS_MAX * step_ms) + 1, step_ms):
        x = scale.at_time(at_ms)
        if x is not None:
            found.append(AxisLabel(x, _time(at_ms, step_ms)))
    return _without_overlaps(
        [], (label for label in found if _left(label) >= 0 and _right(label) <= 100)
    )


def _time(at_ms: int, step_ms: int) -> str:
    date_format = "j M H:i" if step_ms < _DAY else "j M Y" if step_ms > 28 * _DAY else "j M"
    return dateformat.format(datetime.fromtimestamp(at_ms / 1000, UTC), date_format)


def _without_overlaps(
    placed: list[AxisLabel], labels: Iterable[AxisLabel], last: AxisLabel | None = None
) -> list[AxisLabel]:
    """`placed`, those of `labels` that do not overlap others, and `last`."""
    end = _left(last) if last else math.inf
    for label in labels:
        is_free = not placed or _left(label) >= _right(placed[-1]) + _GAP_PERCENT
        if is_free and _right(label) + _GAP_PERCENT <= end:
            placed.append(label)
    return [*placed, last] if last else placed


def _left(label: AxisLabel) -> float:
    width = CHARACTER_PERCENT * len(label.text)
    return label.x - {"start": 0.0, "middle": width / 2, "end": width}[label.anchor]


def _right(label: AxisLabel) -> float:
    return _left(label) + CHARACTER_PERCENT * len(label.text)
