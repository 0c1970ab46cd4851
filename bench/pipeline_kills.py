"""Kills the data pipeline at random moments and compares its levels with an undisturbed run.

    python -m bench.pipeline_kills [--kills 50] [--hours 2] [--seed 1]

Each round kills the process that does the jobs (`worker`) or Spark's JVM (`spark`) with kill -9 at
a random moment, while an hour is rolled up from raw ticks that are the same in all rounds. The
levels must be readable at that moment, and have the same rows as the undisturbed run at the end.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import django
from django.conf import settings

from monitoring.history.root import current
from monitoring.spark.config import from_settings
from tests.monitoring.pipeline.made_history import rows_of_levels, ticks, write
from tests.support.spark import SparkServer

REPOSITORY = Path(__file__).resolve().parents[1]


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

    def worker(self) -> subprocess.Popen[bytes]:
        """A process that does all jobs that wait, and then ends."""
        environ = os.environ | {
            "DJANGO_SETTINGS_MODULE": "console.settings",
            "HISTORY_URL": settings.HISTORY_URL,
            "SPARK_CONNECT_PORT": str(self.spark.config.port),
        }
        command = [sys.executable, "-m", "tests.monitoring.pipeline.do_all"]
        return subprocess.Popen(command, cwd=REPOSITORY, env=environ)

    def finish(self) -> dict[str, list[str]]:
        """Let workers run until nothing waits; the rows."""
        for _ in range(5):
            if self.worker().wait(600) == 0:
                return rows_of_levels(current())
        raise SystemExit("the jobs do not end")

    def kill_spark(self) -> None:
        """kill -9 of the JVM and its launcher."""
        assert self.spark.process is not None
        family = _children(self.spark.process.pid)
        for number in (*family, self.spark.process.pid):
            os.kill(number, signal.SIGKILL)
        self.spark.process.wait()
        self.spark.start()
        self.spark.wait_until_ready()

    def close(self) -> None:
        self.spark.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def _children(parent: int) -> list[int]:
    found = subprocess.run(["pgrep", "-P", str(parent)], capture_output=True, text=True)
    direct = [int(word) for word in found.stdout.split()]
    return [each for child in direct for each in (*_children(child), child)]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--hours", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    django.setup()
    chance = random.Random(options.seed)
    bench = Bench(options.hours, options.seed)
    try:
        bench.start_round()
        started_s = time.monotonic()
        expected = bench.finish()
        whole_s = time.monotonic() - started_s
        rows = sum(map(len, expected.values()))
        print(f"undisturbed: {whole_s:.1f} s, {rows} rows", flush=True)
        wrong = 0
        for number in range(1, options.kills + 1):
            target = chance.choice(("worker", "worker", "spark"))
            wrong += not _round(bench, target, chance.uniform(0, whole_s), expected, number)
        print(f"{options.kills} kills, {wrong} wrong")
        sys.exit(1 if wrong else 0)
    finally:
        bench.close()


def _round(
    bench: Bench, target: str, after_s: float, expected: dict[str, list[str]], number: int
) -> bool:
    bench.start_round()
    worker = bench.worker()
    try:
        worker.wait(after_s)
    except subprocess.TimeoutExpired:
        pass
    if target == "spark":
        bench.kill_spark()
    worker.kill()
    worker.wait()
    seen = rows_of_levels(current())  # readable, and no row that is wrong
    is_right = all(set(rows) <= set(expected[name]) for name, rows in seen.items())
    is_right = is_right and bench.finish() == expected
    print(
        f"{number}: {target} after {after_s:.1f} s: {'same' if is_right else 'WRONG'}", flush=True
    )
    return is_right


if __name__ == "__main__":
    main()
