"""Kills the data pipeline at random moments and compares its levels with an undisturbed run.

    python -m bench.pipeline_kills [--kills 50] [--hours 1] [--seed 1] [--result FILE]

A round begins with the raw level alone and a warm Spark. A worker does all jobs: hours, then the
day. At a random moment behind the start of its first job, kill -9 ends the `worker`, or Spark's JVM
(`spark`: the worker goes on until its query fails), or `both`. The levels must be readable then,
and in the end have the same rows as the undisturbed run.

A round counts if what it kills was alive and the worker had jobs to do. Else it is done again with
another moment; the result says how often. Workers are forks of this process, which has loaded all
that they need, so that a round takes little more than its jobs.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import multiprocessing
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path

import django
from django.conf import settings

from monitoring.history.root_folder import cluster_folder, current
from monitoring.pipeline.workspace import JOBS
from monitoring.spark.server_config import from_settings
from monitoring.spark.session import open_session
from tests.monitoring.pipeline.do_all import do_all
from tests.monitoring.pipeline.made_history import rows_of_levels, ticks, write
from tests.support.ports import free_port
from tests.support.spark import SparkServer

TARGETS = ("worker", "spark", "worker", "both", "worker")
_TIMEOUT_S = 600
Rows = dict[str, list[str]]


class Bench:
    """A history, and a Spark that is started again when it was killed."""

    def __init__(self, hours: int, seed: int) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="aerie-kills-"))
        self._use("raw")
        write(current(), ticks(seed, hours, has_groups=False))
        self.spark = SparkServer(dataclasses.replace(from_settings(), port=free_port()))
        self.spark.start()
        self.spark.wait_until_ready()

    def _use(self, name: str) -> None:
        settings.HISTORY_URL = f"file://{self.folder}/{name}"

    def start_round(self) -> None:
        """Begin with the raw level alone."""
        shutil.rmtree(self.folder / "round", ignore_errors=True)
        shutil.copytree(self.folder / "raw", self.folder / "round")
        self._use("round")

    @contextmanager
    def worker(self) -> Iterator[BaseProcess]:
        """A process that does all jobs that wait, and then ends."""
        worker = multiprocessing.get_context("fork").Process(target=self._work)
        worker.start()
        try:
            yield worker
        finally:
            worker.kill()
            worker.join()

    def _work(self) -> None:
        with (self.folder / "worker.log").open("ab") as log:
            os.dup2(log.fileno(), sys.stderr.fileno())
        with open_session(self.spark.config) as spark:
            do_all(spark)

    def undisturbed(self) -> tuple[Rows, float]:
        """The rows of a round in which nothing is killed, and its seconds from the first job on."""
        self.start_round()
        with self.worker() as worker:
            wait_for_job(worker)
            began_s = time.monotonic()
            self._wait(worker)
        return rows_of_levels(current()), time.monotonic() - began_s

    def finish(self) -> Rows:
        """Let a worker run until nothing waits; the rows."""
        with self.worker() as worker:
            self._wait(worker)
        return rows_of_levels(current())

    def _wait(self, worker: BaseProcess) -> None:
        worker.join(_TIMEOUT_S)
        if worker.exitcode != 0:
            raise SystemExit((self.folder / "worker.log").read_text())

    def kill(self, target: str, worker: BaseProcess) -> bool:
        """kill -9 of what the target names; whether both were alive."""
        jvm = self.spark.process
        assert jvm is not None
        is_alive = worker.is_alive() and jvm.poll() is None
        if target != "worker":
            jvm.kill()
        if target != "spark":
            worker.kill()
        worker.join(_TIMEOUT_S)  # alone, it ends when its query fails
        if target != "worker":
            jvm.wait()
        return is_alive

    def restart_spark(self) -> None:
        self.spark.start()
        self.spark.wait_until_ready()

    def close(self) -> None:
        self.spark.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def wait_for_job(worker: BaseProcess) -> None:
    """Until the worker has begun a job, or has ended."""
    deadline_s = time.monotonic() + _TIMEOUT_S
    while worker.is_alive() and not current().entries(cluster_folder("local"), JOBS):
        if time.monotonic() > deadline_s:
            raise SystemExit("the worker does not begin")
        time.sleep(0.01)


def one_round(bench: Bench, target: str, after_s: float, expected: Rows) -> tuple[bool, bool]:
    """(whether it counts, whether the rows are right). Spark is warm afterwards."""
    bench.start_round()
    with bench.worker() as worker:
        wait_for_job(worker)
        worker.join(after_s)
        is_counted = bench.kill(target, worker)
    seen = rows_of_levels(current())  # readable, and no row that is wrong
    is_right = all(set(rows) <= set(expected[name]) for name, rows in seen.items())
    if target != "worker":
        bench.restart_spark()
    return is_counted, is_right and bench.finish() == expected


def run(bench: Bench, kills: int, chance: random.Random) -> Iterator[str]:
    """Do the rounds; yields a line for each, and the result last. Raises SystemExit if one is
    wrong."""
    _, cold_s = bench.undisturbed()
    expected, warm_s = bench.undisturbed()
    count = sum(map(len, expected.values()))
    yield f"Undisturbed jobs of {count} rows: cold Spark {cold_s:.1f} s, warm {warm_s:.1f} s.\n"
    counted: Counter[str] = Counter()
    missed = wrong = 0
    while counted.total() < kills:
        target, after_s = TARGETS[counted.total() % len(TARGETS)], chance.uniform(0, warm_s)
        is_counted, is_right = one_round(bench, target, after_s, expected)
        counted[target] += is_counted
        missed += not is_counted
        wrong += not is_right
        result = ("same rows" if is_right else "WRONG") + ("" if is_counted else ", not counted")
        yield f"{counted.total()}. {target}, {after_s:.1f} s after the first job began: {result}"
    of_each = ", ".join(f"{counted[target]} of {target}" for target in sorted(counted))
    yield f"{kills} kills ({of_each}), {wrong} wrong; {missed} more came too late and do not count."
    if wrong:
        raise SystemExit(1)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--hours", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--result", type=Path)
    options = parser.parse_args()
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    django.setup()
    importlib.import_module("pyspark.sql.connect.session")  # for the forks
    bench = Bench(options.hours, options.seed)
    lines = [f"# Kills of the data pipeline\n\n{time.strftime('%Y-%m-%d %H:%M')}.\n"]
    try:
        for line in run(bench, options.kills, random.Random(options.seed)):
            print(line, flush=True)
            lines.append(line)
    finally:
        bench.close()
        if options.result:
            options.result.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
