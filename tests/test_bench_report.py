"""The table of `make bench`: medians, ratios, goals, and what a broken run leaves."""

import json
import os
import subprocess
import sys
from pathlib import Path

from bench.measured import Measured
from bench.report import Found, Report
from bench.rows import Contender, Goal, Row
from bench.run import _settle, main
from bench.servers import Server

SERVER = Server("a", 0, Path(), os.getpid(), 0.0)


def found(*rates: float, cpu: float = 1.0) -> Found:
    return Found([Measured(rate, cpu) for rate in rates])


def row(goal: Goal, *, less_is_better: bool = False) -> Row:
    def load(_server: Server, _seconds: float) -> Measured:
        return Measured(1, 1)

    contenders = [Contender("ours", "a", load, goal), Contender("theirs", "b", load)]
    return Row("key", "a load", "MB/s", "CPU-s/GiB", contenders, less_is_better)


def line(directory: Path, row: Row, results: dict[str, Found]) -> str:
    report = Report(directory, rounds=3, seconds=1)
    report.add(row, results)
    return report.text.splitlines()[-1]


def test_a_row_has_medians_and_their_ratio_beside_the_goal(tmp_path: Path) -> None:
    said = line(
        tmp_path, row(Goal(1.5, 0.7)), {"ours": found(90, 30, 10, cpu=0.5), "theirs": found(20)}
    )
    assert said == (
        "| a load | 30.00 MB/s, 0.50 CPU-s/GiB | theirs: 20.00 MB/s, 1.00 CPU-s/GiB "
        "| 1.50 | ≥1.5 | 0.50 | ≤0.7 |"
    )


def test_a_missed_goal_is_marked(tmp_path: Path) -> None:
    said = line(tmp_path, row(Goal(1.5)), {"ours": found(29), "theirs": found(20)})
    assert "| 1.45 | ≥1.5 **missed** |" in said


def test_of_times_and_sizes_less_is_better(tmp_path: Path) -> None:
    wanted = row(Goal(0.5), less_is_better=True)
    said = line(tmp_path, wanted, {"ours": found(10), "theirs": found(20)})
    assert "| 0.50 | ≤0.5 |" in said
    said = line(tmp_path, wanted, {"ours": found(11), "theirs": found(20)})
    assert "| 0.55 | ≤0.5 **missed** |" in said


def test_a_failed_load_says_why_and_has_no_ratio(tmp_path: Path) -> None:
    failed = Found(problem="RuntimeError: produce was refused")
    said = line(tmp_path, row(Goal(1.5)), {"ours": failed, "theirs": found(20)})
    assert said.startswith("| a load | — failed: RuntimeError: produce was refused | theirs: 20.00")
    assert said.endswith("| — | ≥1.5 | — |  |")


def test_every_row_is_on_disk_when_it_is_done(tmp_path: Path) -> None:
    report = Report(tmp_path, rounds=1, seconds=1)
    report.add(row(Goal()), {"ours": found(1), "theirs": found(2)})
    (table,) = tmp_path.glob("*.md")
    (figures,) = tmp_path.glob("*.json")
    assert table.read_text() == report.text
    assert json.loads(figures.read_text())["figures"]["key"]["theirs"]["measured"] == [[2, 1.0]]


def test_a_load_runs_until_two_windows_agree_within_5_percent() -> None:
    rates = iter([10.0, 20.0, 20.5, 99.0])
    contender = Contender("a", "a", lambda _server, _seconds: Measured(next(rates), 1))
    assert _settle(row(Goal()), contender, {"a": SERVER}, 1) is None
    assert next(rates) == 99.0


def test_a_load_that_never_settles_ends_all_the_same() -> None:
    rates = iter([10.0, 20.0, 40.0, 80.0])
    contender = Contender("a", "a", lambda _server, _seconds: Measured(next(rates), 1))
    assert _settle(row(Goal()), contender, {"a": SERVER}, 1) is None
    assert next(rates) == 80.0


def test_a_load_on_a_server_that_has_ended_fails_at_once() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    contender = Contender("a", "a", lambda _server, _seconds: Measured(1, 1))
    ended = Server("a", 0, Path(), process.pid, 0.0)
    assert _settle(row(Goal()), contender, {"a": ended}, 1) == "RuntimeError: a has ended"
    process.wait()


def test_an_unknown_row_is_named(capsys) -> None:  # type: ignore[no-untyped-def]
    assert main(["--rows", "produce,consumer"]) == 2
    assert "bench: no row consumer; there are start, produce," in capsys.readouterr().out
