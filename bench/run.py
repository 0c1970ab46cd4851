"""`make bench`: brokerd and Apache Kafka side by side, same machine, same run, same clients.

Both servers run throughout; each load is measured on them in turn (A B A B), several times, and the
median counts. Kafka's code is compiled while it runs: its first minute is measured and reported
apart, and every load runs until two windows in a row differ by less than 5 % (or three were seen)
before it is measured. The table goes to standard output and, with every single figure, into
bench/results/ after each row, so that a run that is broken off keeps what it has. A load that fails
says why in its row and the others go on.

How each load works is said in bench/producing.py and bench/consuming.py, what is asked of it in
bench/rows.py. librdkafka is driven by ctypes (bench/rdkafka.py); "ready-made" loads send prepared
frames and count the answers' bytes without copying them (bench/raw.py).

The rows `pages`, `record-pages`, `browser`, `charts` and `record-search` are of the console: its
pages with a large cluster (bench/pages.py, bench/record_pages.py), what a browser makes of them
(bench/browser.py), the data of charts from a history of 90 days (bench/charts.py), and searches in
records (bench/record_search.py).
The rows `roll-up` and `bytes-a-day` are of the history: Spark beside DuckDB (bench/roll_up.py), and
its size at all levels (bench/bytes_a_day.py). The row `idle` is of the whole stack (bench/idle.py).

    make bench ARGS="--rows produce,fetch --rounds 1 --seconds 3"     a quick look
    make bench ARGS="--rows pages --beside ../older"                  pages, beside another checkout
    make bench ARGS="--rows small,fetch --beside ../older"            brokerd, beside another one
"""

import argparse
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from bench import browser, bytes_a_day, charts, idle, pages, record_pages, record_search, roll_up
from bench.measured import Measured
from bench.report import BROKERS, Found, Report
from bench.rounds import checkouts_of
from bench.rows import ROWS, Contender, Goal, Row
from bench.servers import (
    BROKERD,
    KAFKA_NAME,
    ROOT,
    VALIDATING,
    Server,
    free_space_bytes,
    kafka_problem,
    running,
)

RESULTS = ROOT / "bench" / "results"
SPACE_NEEDED_BYTES = 30 << 30
AGREEMENT = 0.05
WORSE_MAX = 0.05  # than the brokerd of another checkout
WINDOWS_MAX = 3
WINDOW = 2
FIRST_MINUTE = 12
"""Kafka's windows, and its first minute, in measurements of `--seconds`; brokerd has nothing to
compile, its windows are half as long."""
KEYS = (
    *(row.key for row in ROWS),
    pages.KEY,
    browser.KEY,
    charts.KEY,
    record_search.KEY,
    record_pages.KEY,
    roll_up.KEY,
    bytes_a_day.KEY,
    idle.KEY,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """See the module. Returns the exit code."""
    options = _options(arguments)
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
    keys = _wanted(options.rows)
    if keys is None:
        return 2
    with tempfile.TemporaryDirectory(
        prefix="brokerd-bench-", dir=options.directory, ignore_cleanup_errors=True
    ) as name:
        known = {row.key: row for row in ROWS}
        rows = [known[key] for key in keys if key in known]
        if rows and free_space_bytes(Path(name)) < SPACE_NEEDED_BYTES:
            print(f"bench: {name} needs 30 GB of space; --directory names another place")
            return 1
        if rows:
            print("\n" + _brokers(Path(name), rows, options).text)
        if roll_up.KEY in keys:
            print("\n" + roll_up.measure(Path(name), RESULTS).text)
        if pages.KEY in keys:
            size = pages.Size(options.topics, options.rounds, FIRST_MINUTE * options.seconds)
            print("\n" + pages.measure(Path(name), options.beside, size, RESULTS).text)
        if browser.KEY in keys:
            report = browser.measure(
                Path(name), options.beside, options.topics, options.rounds, RESULTS
            )
            print("\n" + report.text)
        if charts.KEY in keys:
            print("\n" + charts.measure(Path(name), options.topics, RESULTS).text)
        if record_search.KEY in keys:
            print("\n" + record_search.measure(Path(name), options.records, RESULTS).text)
        if record_pages.KEY in keys:
            seconds = FIRST_MINUTE * options.seconds
            report = record_pages.measure(Path(name), options.topics, seconds, RESULTS)
            print("\n" + report.text)
        if bytes_a_day.KEY in keys:
            print("\n" + bytes_a_day.measure(Path(name), options.topics, RESULTS).text)
        if idle.KEY in keys:
            print("\n" + idle.measure(Path(name), options.topics, RESULTS).text)
    return 0


def _brokers(directory: Path, rows: list[Row], options: argparse.Namespace) -> Report:
    heading = BROKERS
    if options.beside is not None:
        ours, other = checkouts_of(options.beside)
        heading = replace(BROKERS, title=f"brokerd: {ours} and {other}", name="-brokerd")
        rows = [_beside(row, other) for row in rows]
    elif problem := _why_no_kafka(options):
        print(f"bench: Apache Kafka is not measured: {problem}")
        rows = [_without_kafka(row) for row in rows]
    names = dict.fromkeys(each.server for row in rows for each in row.contenders)
    report = Report(RESULTS, options.rounds, options.seconds, heading)
    with running(directory, list(names), options.beside) as servers:
        if options.beside is None:
            _warm_up(servers, options.seconds, report)
        for row in rows:
            report.add(row, _measure(row, servers, options))
    return report


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__.split("\n")[0])
    keys = ", ".join(KEYS)
    parser.add_argument("--rows", help=f"some of them, separated by commas: {keys}")
    parser.add_argument("--seconds", type=float, default=5, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=3, help="measurements of each load")
    parser.add_argument("--without-kafka", action="store_true")
    parser.add_argument("--topics", type=int, default=10_000, help="of `pages` and `browser`")
    parser.add_argument("--records", type=int, default=10_000_000, help="of `record-search`")
    parser.add_argument(
        "--beside",
        type=Path,
        help="another checkout, measured in turn with this one (for brokerd instead of Kafka)",
    )
    parser.add_argument("--directory", type=Path, help="where logs are written (default: temp)")
    return parser.parse_args(arguments)


def _wanted(keys: str | None) -> list[str] | None:
    wanted = [key.strip() for key in keys.split(",")] if keys is not None else list(KEYS)
    unknown = [key for key in wanted if key not in KEYS]
    if unknown:
        print(f"bench: no row {', '.join(unknown)}; there are {', '.join(KEYS)}")
        return None
    return wanted


def _why_no_kafka(options: argparse.Namespace) -> str | None:
    return "it was left out (--without-kafka)" if options.without_kafka else kafka_problem()


def _beside(row: Row, label: str) -> Row:
    """The same row where the brokerd of another checkout takes the place of Kafka."""
    goal = Goal(1 + WORSE_MAX if row.less_is_better else 1 - WORSE_MAX, 1 + WORSE_MAX)
    return row.of(
        [
            replace(each, label=each.label.replace(KAFKA_NAME, label), goal=goal)
            for each in row.contenders
            if each.server != VALIDATING
        ]
    )


def _without_kafka(row: Row) -> Row:
    left = [each for each in row.contenders if each.server != KAFKA_NAME]
    return row.of(left)


def _warm_up(servers: Mapping[str, Server], seconds: float, report: Report) -> None:
    """Kafka's first minute, of the load `produce`, window by window."""
    (row,) = (row for row in ROWS if row.key == "produce")
    for name in (BROKERD, KAFKA_NAME):
        if name not in servers:
            continue
        contender = next(each for each in row.contenders if each.server == name)
        until = time.monotonic() + (FIRST_MINUTE * seconds if name == KAFKA_NAME else 0)
        print(f"{name}, cold: {row.name}", flush=True)
        while True:
            one = _once(row, contender, servers, _window_s(contender, seconds))
            if isinstance(one, str):
                break
            report.add_cold(name, one.rate)
            if time.monotonic() > until:
                break


def _window_s(contender: Contender, seconds: float) -> float:
    return seconds * (WINDOW if contender.server == KAFKA_NAME else WINDOW / 2)


def _measure(
    row: Row, servers: Mapping[str, Server], options: argparse.Namespace
) -> dict[str, Found]:
    """What was found for each contender's label."""
    print(f"{time.strftime('%H:%M:%S')} {row.name}", flush=True)
    found = {each.label: Found() for each in row.contenders}
    if row.settles:
        for each in row.contenders:
            found[each.label].take_problem(_settle(row, each, servers, options.seconds))
    for _ in range(options.rounds):
        for each in row.contenders:
            if found[each.label].problem is None:
                found[each.label].take(_once(row, each, servers, options.seconds))
    return found


def _settle(
    row: Row, contender: Contender, servers: Mapping[str, Server], seconds: float
) -> str | None:
    """Runs the load until two windows agree; what went wrong."""
    before = 0.0
    for _ in range(WINDOWS_MAX):
        one = _once(row, contender, servers, _window_s(contender, seconds), "warming up ")
        if isinstance(one, str):
            return one
        if abs(one.rate - before) < AGREEMENT * before:
            break
        before = one.rate
    return None


def _once(
    row: Row,
    contender: Contender,
    servers: Mapping[str, Server],
    seconds: float,
    what: str = "",
) -> Measured | str:
    """One measurement, or what went wrong."""
    server = servers[contender.server]
    try:
        if server.has_ended:
            raise RuntimeError(f"{contender.server} has ended")
        one = contender.load(server, seconds)
    except Exception as error:
        traceback.print_exc()
        problem = f"{type(error).__name__}: {error}"
        print(f"  {what}{contender.label}: failed: {problem}", flush=True)
        return problem
    print(f"  {what}{contender.label}: {row.said(one)}", flush=True)
    return one


if __name__ == "__main__":
    sys.exit(main())
