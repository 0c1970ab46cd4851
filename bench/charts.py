"""The row `charts`: how long the data of a chart takes, over 15 minutes to 90 days.

A history of 90 days is written as the pipeline leaves it (bench/in_checkout/charts.py), with the
newest minutes as raw files and in a Redis of its own. Each query is of another topic or group, so
each reads other files; what a process keeps of the last ticks is part of it, as in the console.
"""

import json
import subprocess
import time
from pathlib import Path

import redis

from bench.in_checkout.synthetic import Synthetic
from bench.measured import Measured
from bench.report import Heading, Report
from bench.rows import Contender, Row
from bench.scripts import output_of
from bench.servers import STOP_TIMEOUT_S
from bench.visits import percentile
from stack.embedded.redis import server_path
from tests.support.ports import free_port

KEY = "charts"
QUERIES = 20
THIS = "this"
_TIMEOUT_S = 3600
_READY_S = 10


def measure(directory: Path, topics: int, results: Path) -> Report:
    """All queries. Raises RuntimeError if the script fails."""
    count = int(Synthetic(topics).partition_counts.sum())
    heading = Heading(
        "Data of charts",
        f"{topics:,} topics, {count:,} partitions; one in 20 changes in every minute. {{rounds}}"
        " queries of each row. Goals at 40,000 partitions: 100 ms over 24 hours, 200 ms over 90"
        " days (p95).",
        "| Chart | this | beside it | p95 ÷ its | goal | p50 ÷ its | goal |",
        "-charts",
    )
    report = Report(results, QUERIES, 0, heading)
    for name, times_ms in _times(directory, topics).items():
        row = Row(name, name, "ms p95", "ms p50", [Contender(THIS, THIS)],
                  less_is_better=True)  # fmt: skip
        report.add_one(row, Measured(percentile(times_ms, 0.95), percentile(times_ms, 0.5)))
    return report


def _times(directory: Path, topics: int) -> dict[str, list[float]]:
    executable = server_path()
    if executable is None:
        raise RuntimeError("there is no redis-server")
    port = free_port()
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(directory)]
    server = subprocess.Popen([str(executable), *options], stdout=subprocess.DEVNULL)
    try:
        _wait_for(port)
        url = f"redis://127.0.0.1:{port}/0"
        arguments = (directory / "history", url, topics, QUERIES)
        output = output_of("charts.py", *arguments, timeout_s=_TIMEOUT_S)
    finally:
        server.terminate()
        server.wait(STOP_TIMEOUT_S)
    found: dict[str, list[float]] = json.loads(output)
    return found


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + _READY_S
    while True:
        try:
            redis.Redis(port=port).ping()
            return
        except redis.RedisError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
