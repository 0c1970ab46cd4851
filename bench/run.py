"""`make bench`: brokerd and Apache Kafka side by side, same machine, same run, same clients.

Both servers run throughout; each load is measured on them in turn (A B A B), several times, and the
median counts. Kafka's code is compiled while it runs, so each is warmed up first. The table goes to
standard output and, with all figures, into bench/results/.
"""

import argparse
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bench.loads import LOADS, Load, Measured, passing_topic, produce_to, small_requests
from bench.servers import ROOT, Server, free_space_bytes, kafka_problem, running

RESULTS = ROOT / "bench" / "results"
SPACE_NEEDED_BYTES = 30 << 30


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=8, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=3, help="measurements of each load")
    parser.add_argument("--warm-up", type=float, default=60, help="seconds for Kafka")
    parser.add_argument("--without-kafka", action="store_true")
    parser.add_argument("--directory", type=Path, help="where logs are written (default: temp)")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="brokerd-bench-", dir=options.directory) as name:
        directory = Path(name)
        if free_space_bytes(directory) < SPACE_NEEDED_BYTES:
            print(f"bench: {name} needs 30 GB of space; --directory names another place")
            return 1
        problem = None if not options.without_kafka else "it was left out (--without-kafka)"
        problem = problem or kafka_problem()
        if problem:
            print(f"bench: Apache Kafka is not measured: {problem}")
        with running(directory, with_kafka=problem is None) as servers:
            _warm_up(servers, options.warm_up)
            measured = [_measure(load, servers, options) for load in LOADS]
            memory = {server.name: server.rss_bytes() for server in servers}
    _report([server.name for server in servers], measured, memory, options)
    return 0


def _warm_up(servers: list[Server], seconds: float) -> None:
    """brokerd has nothing to compile, a few seconds fill its caches; Kafka takes a minute."""
    for server in servers:
        for_server = seconds if server.name != "brokerd" else min(seconds, 5)
        print(f"warming up {server.name}, {for_server:.0f} s …", flush=True)
        if for_server:
            with passing_topic(server, "warm") as topic:
                produce_to(server, for_server * 0.7, topic, **{"batch.size": 65_536})
            small_requests(server, for_server * 0.3)


def _measure(
    load: Load, servers: list[Server], options: argparse.Namespace
) -> dict[str, list[Measured]]:
    print(f"{load.name}", flush=True)
    found: dict[str, list[Measured]] = {server.name: [] for server in servers}
    for _ in range(options.rounds):
        for server in servers:
            one = load.run(server, options.seconds)
            found[server.name].append(one)
            print(f"  {server.name}: {one.rate:,.0f} {load.unit}, {one.cpu:.2f} {load.cpu_unit}")
    return found


def _median(values: list[Measured]) -> Measured:
    return Measured(
        statistics.median(each.rate for each in values),
        statistics.median(each.cpu for each in values),
    )


def _report(
    names: list[str],
    measured: list[dict[str, list[Measured]]],
    memory: dict[str, int],
    options: argparse.Namespace,
) -> None:
    lines = [
        "# brokerd and Apache Kafka side by side",
        "",
        f"{time.strftime('%Y-%m-%d %H:%M')}, {_machine()}. One broker each, one partition, median"
        f" of {options.rounds} × {options.seconds:g} s in turn, Kafka warmed up for"
        f" {options.warm_up:g} s. CPU is the broker's.",
        "",
        "| Load | " + " | ".join(names) + " | rate ÷ Kafka | CPU ÷ Kafka |",
        "|---" * (len(names) + 3) + "|",
    ]
    for load, found in zip(LOADS, measured, strict=True):
        medians = [_median(found[name]) for name in names]
        cells = [
            f"{each.rate:,.0f} {load.unit}, {each.cpu:.2f} {load.cpu_unit}" for each in medians
        ]
        ratios = ["—", "—"]
        if len(medians) == 2:
            ours, kafka = medians
            ratios = [f"{ours.rate / kafka.rate:.2f}", f"{ours.cpu / kafka.cpu:.2f}"]
        lines.append("| " + " | ".join([load.name, *cells, *ratios]) + " |")
    used = " | ".join(f"{memory[name] / 1e6:.0f} MB" for name in names)
    lines.append(f"| resident memory at the end | {used} | | |")
    text = "\n".join(lines) + "\n"
    print("\n" + text)
    RESULTS.mkdir(exist_ok=True)
    stamp = time.strftime("%Y%m%d-%H%M")
    (RESULTS / f"{stamp}.md").write_text(text)
    figures = {
        load.name: {name: [[each.rate, each.cpu] for each in found[name]] for name in names}
        for load, found in zip(LOADS, measured, strict=True)
    }
    whole = {"machine": _machine(), "figures": figures, "rss_bytes": memory}
    (RESULTS / f"{stamp}.json").write_text(json.dumps(whole, indent=1) + "\n")


def _machine() -> str:
    model = "unknown processor"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    return f"{os.cpu_count()} × {model}, Python {platform.python_version()}"


if __name__ == "__main__":
    sys.exit(main())
