"""The results as a table for people and as figures for programs, written anew after each row."""

import json
import os
import platform
import statistics
import time
from dataclasses import dataclass, field
from pathlib import Path

from bench.measured import Measured
from bench.rows import Contender, Row

MISSED = "**missed**"


@dataclass(frozen=True, slots=True)
class Heading:
    """What stands above a table: its title, what is measured how, the names of its columns.

    `name` is added to that of the files.
    """

    title: str
    text: str
    columns: str
    name: str = ""


BROKERS = Heading(
    "brokerd and Apache Kafka side by side",
    "One broker each; one partition, uncompressed, librdkafka unless a row says otherwise. Medians"
    " of {rounds} × {seconds:g} s (or 2 GB written) in turn, after a warm-up. CPU is the broker's.",
    "| Load | brokerd | beside it | rate ÷ it | goal | CPU ÷ its | goal |",
)


@dataclass(slots=True)
class Found:
    """The measurements of one contender in a row, or why there are no more."""

    measured: list[Measured] = field(default_factory=list)
    problem: str | None = None

    def take(self, one: Measured | str) -> None:
        """Adds a measurement, or notes why there is none."""
        if isinstance(one, str):
            self.problem = one
        else:
            self.measured.append(one)

    def take_problem(self, problem: str | None) -> None:
        """Notes a problem, if there is one and none is noted yet."""
        self.problem = self.problem or problem

    @property
    def median(self) -> Measured | None:
        """Median rate and median CPU time, each by itself; None before the first measurement."""
        if not self.measured:
            return None
        return Measured(
            statistics.median(each.rate for each in self.measured),
            statistics.median(each.cpu for each in self.measured),
        )


class Report:
    """Rows so far. `text` is the table in Markdown."""

    def __init__(
        self, directory: Path, rounds: int, seconds: float, heading: Heading = BROKERS
    ) -> None:
        self._begin = time.localtime()
        self._load_before = os.getloadavg()[0]
        self._heading = heading
        self._path = directory / (time.strftime("%Y%m%d-%H%M", self._begin) + heading.name)
        self._rounds = rounds
        self._seconds = seconds
        self._cold: dict[str, list[float]] = {}
        self._rows: dict[str, tuple[Row, dict[str, Found]]] = {}

    def add_cold(self, name: str, rate: float) -> None:
        """A rate from before a server was warmed up."""
        self._cold.setdefault(name, []).append(rate)

    def add(self, row: Row, found: dict[str, Found]) -> None:
        """Adds a row, by label of its contenders, and writes both files anew. Raises OSError.

        A row that is there already is replaced.
        """
        self._rows[row.key] = (row, found)
        self._path.parent.mkdir(exist_ok=True)
        self._path.with_suffix(".md").write_text(self.text)
        self._path.with_suffix(".json").write_text(json.dumps(self._figures(), indent=1) + "\n")

    def add_one(self, row: Row, measured: Measured | str) -> None:
        """As `add`, for a row with one contender: its measurement, or why there is none."""
        found = Found()
        found.take(measured)
        self.add(row, {row.contenders[0].label: found})

    @property
    def text(self) -> str:
        """The table of the rows so far."""
        lines = [
            f"# {self._heading.title}",
            "",
            f"{time.strftime('%Y-%m-%d %H:%M', self._begin)}, {_machine()}, load average at the"
            f" start {self._load_before:.1f}. "
            + self._heading.text.format(rounds=self._rounds, seconds=self._seconds),
            "",
        ]
        for name, rates in self._cold.items():
            said = ", ".join(f"{rate:,.0f}" for rate in rates)
            lines.append(f"Cold, produce 1 KiB: {name} {said} MB/s.")
        lines += [
            "",
            self._heading.columns,
            "|---|---|---|---|---|---|---|",
        ]
        for row, found in self._rows.values():
            lines += _lines(row, found)
        return "\n".join(lines) + "\n"

    def _figures(self) -> dict[str, object]:
        figures = {
            row.key: {
                label: {
                    "problem": each.problem,
                    "measured": [[one.rate, one.cpu] for one in each.measured],
                }
                for label, each in found.items()
            }
            for row, found in self._rows.values()
        }
        units = {row.key: [row.unit, row.cpu_unit] for row, _ in self._rows.values()}
        return {"machine": _machine(), "cold": self._cold, "units": units, "figures": figures}


def _lines(row: Row, found: dict[str, Found]) -> list[str]:
    *ours, other = row.contenders
    if not ours:
        ours, other = [other], None
    lines = []
    for each in ours:
        name = row.name if each is ours[0] else f"… {each.label}"
        cells = [name, _cell(row, each, found)]
        cells.append(_cell(row, other, found, named=True) if other else "")
        cells += _ratios(row, each, other, found)
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def _cell(row: Row, contender: Contender, found: dict[str, Found], *, named: bool = False) -> str:
    each = found[contender.label]
    label = f"{contender.label}: " if named else ""
    said = row.said(each.median) if each.median else "—"
    if each.problem:
        said += f" failed: {each.problem}".replace("|", "/").replace("\n", " ")[:300]
    return label + said


def _ratios(
    row: Row, each: Contender, other: Contender | None, found: dict[str, Found]
) -> list[str]:
    ours = found[each.label].median
    theirs = found[other.label].median if other else None
    rate = ours.rate / theirs.rate if ours and theirs and theirs.rate else None
    cpu = ours.cpu / theirs.cpu if ours and theirs and theirs.cpu else None
    sign = "≤" if row.less_is_better else "≥"
    return [*_judged(rate, sign, each.goal.rate), *_judged(cpu, "≤", each.goal.cpu)]


def _judged(ratio: float | None, sign: str, goal: float | None) -> list[str]:
    said = "—" if ratio is None else f"{ratio:.2f}"
    if goal is None:
        return [said, ""]
    asked = f"{sign}{goal:g}"
    missed = ratio is not None and (ratio > goal if sign == "≤" else ratio < goal)
    return [said, f"{asked} {MISSED}" if missed else asked]


def _machine() -> str:
    model = "unknown processor"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    memory_gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    return (
        f"{os.cpu_count()} × {model}, {memory_gib:.0f} GiB, Linux {platform.release()},"
        f" Python {platform.python_version()}"
    )
