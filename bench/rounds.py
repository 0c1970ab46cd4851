"""Rounds in which checkouts take turns (A B A B), and the results of each turn."""

import subprocess
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from bench.measured import Measured
from bench.report import Found, Report
from bench.rows import Row
from bench.servers import ROOT

Turn = Mapping[str, Measured | str]
"""The results of one turn by row key, or the error text; key "" = the whole turn failed."""


def checkouts_of(beside: Path | None) -> dict[str, Path]:
    """This checkout and, if there is one, the other: label → folder."""
    checkouts = {f"this ({_commit(ROOT)})": ROOT}
    if beside is not None:
        checkouts[f"beside ({_commit(beside)})"] = beside.resolve()
    return checkouts


def _commit(checkout: Path) -> str:
    git = ["git", "-C", str(checkout)]
    done = subprocess.run(
        [*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    )
    changed = subprocess.run([*git, "diff", "--quiet", "HEAD"], capture_output=True, check=False)
    name = done.stdout.strip() or "no commit"
    return f"{name}, changed" if changed.returncode == 1 else name


def run_rounds(
    key: str,
    directory: Path,
    checkouts: Mapping[str, Path],
    rounds: int,
    table: Sequence[Row],
    report: Report,
    run_turn: Callable[[Path, Path], Turn],
) -> Report:
    """All rounds; `run_turn` gets a checkout and a new folder. The results so far are written after
    each turn. A turn that raises is a failed one."""
    found = {row.key: {label: Found() for label in checkouts} for row in table}
    for number in range(rounds):
        for place, (label, checkout) in enumerate(checkouts.items()):
            print(f"{time.strftime('%H:%M:%S')} {key}, {label}, round {number + 1}", flush=True)
            try:
                turn = run_turn(checkout, directory / f"{key}-{number}-{place}")
            except Exception as error:
                traceback.print_exc()
                turn = {"": f"{type(error).__name__}: {error}"}
            for row in table:
                take(found[row.key][label], row.key, turn)
                report.add(row, found[row.key])
            print(report.text, flush=True)
    return report


def take(found: Found, key: str, turn: Turn) -> None:
    """Add a turn's result for the row `key`."""
    if "" in turn:
        found.take(turn[""])
    for name in (key, f"{key} failed"):
        if name in turn:
            found.take(turn[name])
