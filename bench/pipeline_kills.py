"""Kills the data pipeline at random moments and compares its levels with an undisturbed run.

    python -m bench.pipeline_kills [--kills 50] [--hours 1] [--seed 1] [--result FILE]

A round begins with the raw level alone and a warm Spark. A worker does all jobs: hours, then the
day. At a random moment of its first job or later, kill -9 ends the `worker`, or Spark's JVM
(`spark`: the worker goes on until its query fails), or `both`. The levels must be readable then,
and in the end have the same rows as the undisturbed run.

A round counts if what it kills is alive and the worker has jobs to do. Else it is done again with
another moment; the result says how often.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import django
from django.conf import settings

from monitoring.history.root import cluster_folder, current
from monitoring.pipeline.workspace import JOBS
from monitoring.spark.config import from_settings
from tests.monitoring.pipeline.made_history import rows_of_levels, ticks, write
from tests.support.spark import SparkServer

REPOSITORY = Path(__file__).resolve().parents[1]
TARGETS = ("worker", "spark", "both")
_TIMEOUT_S = 600
Rows = dict[str, list[str]]


@dataclass(frozen=True, slots=True)
class Seconds:
    """Of an undisturbed worker: until its first job begins, and from then to its end."""

    start: float
    jobs: float


class Bench:
    """A history, and a Spark that is started again when it was killed."""

    def __init__(self, hours: int, seed: int) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="aerie-kills-"))
        self._use("raw")
        write(current(), ticks(seed, hours))
        self.spark = SparkServer(from_settings())
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
    def worker(self) -> Iterator[subprocess.Popen[bytes]]:
        """A process that does all jobs that wait, and then ends."""
        environ = os.environ | {
            "DJANGO_SETTINGS_MODULE": "console.settings",
            "HISTORY_URL": settings.HISTORY_URL,
            "SPARK_CONNECT_PORT": str(self.spark.config.port),
        }
        command = [sys.executable, "-m", "tests.monitoring.pipeline.do_all"]
        with (self.folder / "worker.log").open("ab") as log:
            process = subprocess.Popen(command, cwd=REPOSITORY, env=environ, stderr=log)
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    def undisturbed(self) -> tuple[Rows, Seconds]:
        """The rows of a round in which nothing is killed, and its times."""
        self.start_round()
        started_s = time.monotonic()
        with self.worker() as worker:
            wait_for_job(worker)
            began_s = time.monotonic()
            if worker.wait(_TIMEOUT_S):
                raise SystemExit(f"the jobs failed: {self.folder}/worker.log")
        return rows_of_levels(current()), Seconds(began_s - started_s, time.monotonic() - began_s)

    def finish(self) -> Rows:
        """Let a worker run until nothing waits; the rows."""
        with self.worker() as worker:
            if worker.wait(_TIMEOUT_S):
                raise SystemExit(f"the jobs do not end: {self.folder}/worker.log")
        return rows_of_levels(current())

    def kill(self, target: str, worker: subprocess.Popen[bytes]) -> bool:
        """kill -9 of what the target names; whether all of it was alive."""
        jvm = self.spark.process
        assert jvm is not None
        victims = {"worker": [worker], "spark": [jvm], "both": [jvm, worker]}[target]
        is_alive = worker.poll() is None and jvm.poll() is None
        for victim in victims:
            victim.kill()
        if target == "spark":
            worker.wait(_TIMEOUT_S)  # its query fails
        if target != "worker":
            jvm.wait()
        return is_alive

    def restart_spark(self) -> None:
        self.spark.start()
        self.spark.wait_until_ready()

    def close(self) -> None:
        self.spark.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def wait_for_job(worker: subprocess.Popen[bytes]) -> None:
    """Until the worker has begun a job, or has ended."""
    deadline_s = time.monotonic() + _TIMEOUT_S
    while worker.poll() is None and not current().entries(cluster_folder("local"), JOBS):
        if time.monotonic() > deadline_s:
            raise SystemExit("the worker does not begin")
        time.sleep(0.01)


def one_round(bench: Bench, target: str, after_s: float, expected: Rows) -> tuple[bool, bool]:
    """(whether it counts, whether the rows are right). Spark is warm afterwards."""
    bench.start_round()
    with bench.worker() as worker:
        wait_for_job(worker)
        try:
            worker.wait(after_s)
        except subprocess.TimeoutExpired:
            pass
        is_counted = bench.kill(target, worker)
    seen = rows_of_levels(current())  # readable, and no row that is wrong
    is_right = all(set(rows) <= set(expected[name]) for name, rows in seen.items())
    if target != "worker":
        bench.restart_spark()
    return is_counted, is_right and bench.finish() == expected


def run(bench: Bench, kills: int, chance: random.Random) -> Iterator[str]:
    """Do the rounds; yields a line for each, and the result last. Raises SystemExit if one is
    wrong."""
    _, cold = bench.undisturbed()
    expected, warm = bench.undisturbed()
    yield f"{sum(map(len, expected.values()))} rows. Undisturbed: {cold.jobs:.1f} s of jobs with a "
    yield f"cold Spark, {warm.jobs:.1f} s with a warm one, {warm.start:.1f} s before them."
    counted: Counter[str] = Counter()
    missed = wrong = 0
    while counted.total() < kills:
        target, after_s = TARGETS[counted.total() % 3], chance.uniform(0, warm.jobs)
        is_counted, is_right = one_round(bench, target, after_s, expected)
        counted[target] += is_counted
        missed += not is_counted
        wrong += not is_right
        result = ("same rows" if is_right else "WRONG") + ("" if is_counted else ", not counted")
        yield f"{counted.total()}. {target}, {after_s:.1f} s after the first job began: {result}"
    of_each = ", ".join(f"{counted[target]} of {target}" for target in TARGETS)
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
