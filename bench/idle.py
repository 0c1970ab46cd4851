"""The row `idle`: what a running stack takes when nobody produces, consumes or looks at pages.

`manage.py up` starts the stack without the demo, in a folder and on ports of its own. Its three
brokers get the topics, each with four partitions of one replica, and the groups, each with
committed offsets of two topics. After SETTLE_SECONDS the CPU time of each process is taken over
SECONDS, and its resident memory at the end; of pages that several processes share, each has its
part (PSS), so that the sum is what the machine has less. Spark runs without a query.

Then the hour before gets samples of a cluster with BUSY partitions. The pipeline rolls it up beside
the stack that samples; the memory is taken once more REST_SECONDS later.
"""

import sqlite3
import time
from collections.abc import Mapping
from pathlib import Path

import psutil

from bench.in_checkout.synthetic import PARTITIONS_PER_TOPIC, Synthetic
from bench.measured import MB, Measured
from bench.report import Heading, Report
from bench.rows import Contender, Row
from bench.scripts import output_of
from bench.stacks import SLUG, fill, running
from stack import data_folder_lock, os_processes

KEY = "idle"
THIS = "this"
SETTLE_SECONDS, SECONDS = 180, 300
BUSY, REST_SECONDS = 1000, 480  # a large Spark is restarted after 5 minutes without a client
ROLL_UP_GOAL_S = 120
CPU_GOAL, MEMORY_GOAL_MB = 0.25, 1000
_OF_THE_CLUSTER = ("zookeeper", "broker-1", "broker-2", "broker-3")
_HOUR_MS = 3_600_000
_ROLL_UP_TIMEOUT_S = 1200

Usage = Mapping[str, tuple[float, int]]
"""Name of a process → CPU seconds so far and resident bytes, of its children, too."""


def measure(directory: Path, topics: int, results: Path) -> Report:
    """Each process, and the sums. Raises RuntimeError if the stack does not start."""
    cluster = Synthetic(topics)
    partitions = topics * PARTITIONS_PER_TOPIC
    heading = Heading(
        "A stack that idles",
        f"{topics:,} topics, {partitions:,} partitions, {len(cluster.groups):,} groups, sampled"
        f" each 5 s, over {SECONDS} s. CPU is a share of one core. Goals at 40,000 partitions, for"
        f" all processes of the console: {CPU_GOAL} of a core and {MEMORY_GOAL_MB:,} MB resident;"
        f" for the roll-up {ROLL_UP_GOAL_S} s.",
        "| Processes | this | beside it | CPU ÷ its | goal | | goal |",
        f"-{KEY}",
    )
    report = Report(results, 1, 0, heading)
    with running(directory / KEY) as stack:
        data = stack.data
        fill(stack.broker_port, cluster)
        time.sleep(SETTLE_SECONDS)
        before, began = _usage(data), time.monotonic()
        time.sleep(SECONDS)
        after, seconds = _usage(data), time.monotonic() - began
        for name, measured in rows_of(before, after, seconds).items():
            _add(report, name, "cores", measured)
        written, took_s = _roll_up_an_hour(data, topics)
        time.sleep(REST_SECONDS)
        name = f"an hour of {BUSY:,} busy partitions ({written:,} rows) rolled up, and all after it"
        _add(report, name, "s", Measured(took_s, _of_console(_usage(data)) / MB))
    return report


def _add(report: Report, name: str, unit: str, measured: Measured) -> None:
    row = Row(f"{KEY}-{name}", name, unit, "MB resident", [Contender(THIS, THIS)],
              less_is_better=True)  # fmt: skip
    report.add_one(row, measured)


def _of_console(usage: Usage) -> int:
    """The resident bytes of all processes of the console."""
    return sum(resident for name, (_, resident) in usage.items() if name not in _OF_THE_CLUSTER)


def _roll_up_an_hour(data: Path, topics: int) -> tuple[int, float]:
    """Write the hour before this one and wait until the pipeline rolled it up: its rows, seconds.

    Raises RuntimeError if it does not.
    """
    hour_ms = (int(time.time() * 1000) // _HOUR_MS - 1) * _HOUR_MS
    arguments = (data / "history", SLUG, topics, BUSY, hour_ms)
    output = output_of("hour_of_samples.py", *arguments, timeout_s=_ROLL_UP_TIMEOUT_S)
    deadline = time.monotonic() + _ROLL_UP_TIMEOUT_S
    query = "SELECT state, seconds FROM monitoring_pipelinerun WHERE kind = 'hour' AND start_ms = ?"
    while time.monotonic() < deadline:
        time.sleep(2)
        database = sqlite3.connect(f"file:{data}/db.sqlite3?mode=ro", uri=True)
        found = database.execute(query, [hour_ms]).fetchone()
        database.close()
        if found and found[0] in ("done", "failed"):
            if found[0] == "failed":
                break
            return int(output), float(found[1])
    raise RuntimeError("the pipeline has not rolled the hour up")


def rows_of(before: Usage, after: Usage, seconds: float) -> dict[str, Measured]:
    """The total and each process: share of a core, MB. Raises RuntimeError if one was restarted."""
    if restarted := [name for name in before if after.get(name, (0, 0))[0] < before[name][0]]:
        raise RuntimeError(f"these processes ended: {', '.join(restarted)}")
    each = {
        name: Measured((after[name][0] - before[name][0]) / seconds, after[name][1] / MB)
        for name in after
        if name in before
    }
    of_console = [one for name, one in each.items() if name not in _OF_THE_CLUSTER]
    total = Measured(sum(one.rate for one in of_console), sum(one.cpu for one in of_console))
    return {"all of the console, with Redis and Spark": total, **each}


def _usage(data: Path) -> Usage:
    stack = data_folder_lock.load_stack_file(data)
    if stack is None:
        raise RuntimeError("the stack has ended")
    return {name: _usage_of(int(each["pid"])) for name, each in stack.processes.items()}


def _usage_of(leader: int) -> tuple[float, int]:
    cpu_s, resident = 0.0, 0
    for pid in os_processes.session_members(leader):
        process = psutil.Process(pid)
        times = process.cpu_times()
        cpu_s += times.user + times.system
        resident += process.memory_full_info().pss
    return cpu_s, resident
