"""Small line charts of recent values, as SVG rendered on the server.

Pure. A value of None interrupts the line.
"""

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT, PAD = 120.0, 28.0, 2.0


@dataclass(frozen=True, slots=True)
class Sparkline:
    """`line` and `area` are SVG path data in a box of WIDTH × HEIGHT."""

    line: str
    area: str
    label: str


def draw(values: Sequence[float | None], label: str = "") -> Sparkline:
    """The line through `values`, evenly spaced; empty if fewer than two are known."""
    known = [value for value in values if value is not None]
    if len(known) < 2:
        return Sparkline(line="", area="", label=label)
    low, high = min(0.0, *known), max(known)
    span = (high - low) or 1.0
    step = WIDTH / (len(values) - 1)

    def point(index: int, value: float) -> tuple[float, float]:
        inner = HEIGHT - 2 * PAD
        return round(index * step, 1), round(PAD + inner * (1 - (value - low) / span), 1)

    runs: list[list[tuple[float, float]]] = [[]]
    for index, value in enumerate(values):
        if value is None:
            runs.append([])
        else:
            runs[-1].append(point(index, value))
    runs = [run for run in runs if len(run) > 1]
    line = "".join("M" + "L".join(f"{x} {y}" for x, y in run) for run in runs)
    base = HEIGHT - PAD
    area = "".join(
        f"M{run[0][0]} {base}L" + "L".join(f"{x} {y}" for x, y in run) + f"L{run[-1][0]} {base}Z"
        for run in runs
    )
    return Sparkline(line, area, label)
