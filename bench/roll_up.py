"""The row `roll-up`: Spark rolls raw samples up to minutes, beside DuckDB on the same files.

The samples are rows of `group_partitions`: 40,000 keys, each of which changes in 250 of the 720
ticks of an hour, so 10 million rows an hour, in a file a minute as the flush writes them: sorted by
key, and with ticks of two minutes. Spark is the stack's own server, warmed up, with an action for
each hour as in the pipeline. DuckDB runs the same formulas as SQL (bench/roll_up_sql.py) on as many
threads. Their files must be equal.
"""

import importlib.util
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from bench.measured import Measured
from bench.report import Found, Heading, Report
from bench.roll_up_sql import run_duckdb
from bench.rows import Contender, Row
from bench.servers import ROOT
from monitoring.history.append_ticks import joined, parquet
from monitoring.history.levels import HOUR_MS, MINUTE_MS
from monitoring.history.table_specs import GROUP_PARTITIONS
from monitoring.spark.jobs.roll_up_and_merge import RollUp, roll_up
from monitoring.spark.jobs.time_slices import SourceFile
from monitoring.spark.server_config import SparkConfig
from monitoring.spark.session import SparkStarting, check_reachable, open_session, remote_url
from monitoring.spark.transforms.buckets import Bucket
from tests.support.ports import free_port

KEY = "roll-up"
KEYS, TICKS, STEP_MS = 40_000, 720, 5_000
SHARE = 250 / TICKS  # of the ticks in which a key changes
TICKS_A_FILE, FLUSHED_TICK = MINUTE_MS // STEP_MS, 4  # the flush does not know of minutes
HOURS = (1, 10)
CORES = 2
SPARK, DUCKDB = "Spark", "DuckDB"
_START_MS = 1_760_000_400_000
_START_TIMEOUT_S = 120


def measure(directory: Path, results: Path) -> Report:
    """Both engines, for 10 and for 100 million rows."""
    report = Report(results, 1, 0, _HEADING)
    for hour in range(max(HOURS)):
        print(f"{time.strftime('%H:%M:%S')} roll-up: writing hour {hour + 1}", flush=True)
        write_hour(directory / f"raw-{hour}", hour)
    with spark_server(directory) as (spark, process):
        _spark(spark, directory, 1)  # compiles
        for hours in HOURS:
            found = {SPARK: Found(), DUCKDB: Found()}
            found[SPARK].take(_timed(lambda n=hours: _spark(spark, directory, n), process))
            if importlib.util.find_spec("duckdb") is None:
                found[DUCKDB].take("duckdb is not installed (pip install duckdb)")
            else:
                found[DUCKDB].take(_timed(lambda n=hours: _duckdb(directory, n), None))
                _check_equal(directory, hours)
            report.add(_row(hours), found)
            print(report.text, flush=True)
    return report


_HEADING = Heading(
    "Roll-up of raw samples to minutes",
    f"{KEYS:,} keys, 250 changes of each an hour, an action for each hour, {CORES} cores, warm"
    " session, Spark with 768 MB of heap and 384 MB off-heap. The goal of Spark is 120 s for 100"
    " million rows.",
    "| Load | Spark | beside it | time ÷ its | goal | CPU ÷ its | goal |",
    "-roll-up",
)


def _row(hours: int) -> Row:
    contenders = [Contender(name, name) for name in (SPARK, DUCKDB)]
    name = f"{10 * hours} million raw rows to minutes"
    return Row(f"{KEY}-{10 * hours}", name, "s", "CPU-s", contenders, less_is_better=True)


def _timed(run, process: psutil.Process | None) -> Measured:  # type: ignore[no-untyped-def]
    """The time of `run`, and the CPU time of a process (of this one if None)."""

    def cpu_s() -> float:
        used = process.cpu_times() if process else None
        own = resource.getrusage(resource.RUSAGE_SELF)
        return used.user + used.system if used else own.ru_utime + own.ru_stime

    at, cpu_before = time.perf_counter(), cpu_s()
    run()
    return Measured(time.perf_counter() - at, cpu_s() - cpu_before)


def buckets(hour: int) -> list[Bucket]:
    start_ms = _hour_ms(hour)
    return [Bucket(start_ms + number * STEP_MS, 1, STEP_MS) for number in range(TICKS)]


def _hour_ms(hour: int) -> int:
    return _START_MS // HOUR_MS * HOUR_MS + hour * HOUR_MS


def _raw_files(directory: Path, hour: int) -> list[str]:
    return sorted(str(path) for path in (directory / f"raw-{hour}").glob("*.parquet"))


def _source_files(directory: Path, hour: int) -> list[SourceFile]:
    """The raw files, with what a manifest would say of them."""
    found = []
    for path in _raw_files(directory, hour):
        times = pq.read_table(path, columns=["at_ms"])["at_ms"].to_numpy()
        found.append(SourceFile(path, len(times), int(times.min()), int(times.max())))
    return found


def _spark(spark: SparkSession, directory: Path, hours: int) -> None:
    for hour in range(hours):
        output, files = directory / f"spark-{hour}", _source_files(directory, hour)
        shutil.rmtree(output, ignore_errors=True)
        step = RollUp(
            table=GROUP_PARTITIONS.name,
            is_raw=True,
            files=files,
            buckets=buckets(hour),
            bucket_ms=MINUTE_MS,
            keep_repeated_until_ms=_hour_ms(hour + 1),
            output=str(output),
            rows=sum(file.rows for file in files),
        )
        roll_up(spark, step)


def _duckdb(directory: Path, hours: int) -> None:
    for hour in range(hours):
        output = directory / f"duckdb-{hour}.parquet"
        run_duckdb(_raw_files(directory, hour), buckets(hour), MINUTE_MS, CORES, str(output))


def _check_equal(directory: Path, hours: int) -> None:
    for hour in range(hours):
        ours = pq.read_table(directory / f"spark-{hour}").sort_by(
            [(key, "ascending") for key in (*GROUP_PARTITIONS.keys, "at_ms")]
        )
        theirs = pq.read_table(directory / f"duckdb-{hour}.parquet")
        if not ours.equals(theirs.select(ours.schema.names).cast(ours.schema)):
            raise RuntimeError(f"Spark and DuckDB differ in hour {hour}")


def write_hour(folder: Path, hour: int) -> None:
    """The raw rows of an hour: a file a minute; the first tick has a row for each key."""
    folder.mkdir(parents=True)
    dice, key = np.random.default_rng(hour), np.arange(KEYS)
    topic, group = key // 4, key // 4 % 2_000
    topics = pa.array([f"orders.region-{n % 17}.stream-{n:05d}" for n in range(KEYS // 4)])
    groups = pa.array([f"consumer.service-{n:04d}" for n in range(2_000)])
    end = dice.integers(10**6, 10**9, KEYS)
    committed = end - dice.integers(0, 1_000, KEYS)
    parts = []
    for tick in range(TICKS):
        changed = dice.random(KEYS) < SHARE
        lag_before = end - committed
        end = end + np.where(changed, dice.integers(1, 500, KEYS), 0)
        consumed = np.minimum(np.where(changed, dice.integers(0, 500, KEYS), 0), end - committed)
        committed = committed + consumed
        rows = np.flatnonzero(changed) if tick else key
        columns = {
            "at_ms": np.full(len(rows), _hour_ms(hour) + tick * STEP_MS),
            "group": _names(groups, group[rows]),
            "topic": _names(topics, topic[rows]),
            "partition": (rows % 4).astype(np.int32),
            "repeated": ~changed[rows],
            **{name: np.full(len(rows), 3, np.int32) for name in ("state_before", "state")},
            "rated": np.full(len(rows), 2, np.int32),
            "committed_offset": committed[rows],
            "log_end_offset": end[rows],
            "lag_before": lag_before[rows],
            "lag": (end - committed)[rows],
            "consumed": consumed[rows],
        }
        parts.append(pa.table(columns, schema=GROUP_PARTITIONS.raw_schema))
        if tick % TICKS_A_FILE == FLUSHED_TICK or tick == TICKS - 1:
            rows = joined(GROUP_PARTITIONS.name, parts)
            (folder / f"{tick:04d}.parquet").write_bytes(parquet(rows))
            parts = []


def _names(names: pa.Array, codes: np.ndarray) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), names)


@contextmanager
def spark_server(directory: Path) -> Iterator[tuple[SparkSession, psutil.Process]]:
    """The stack's Spark server with a session, and its process. Raises RuntimeError."""
    config = SparkConfig(home=directory / "spark", port=free_port(), master=f"local[{CORES}]")
    config.home.mkdir(parents=True)
    environ = os.environ | {
        "AERIE_DATA": str(directory),
        "DJANGO_SETTINGS_MODULE": "console.settings",
        "SPARK_CONNECT_PORT": str(config.port),
        "SPARK_MASTER": config.master,
    }
    command = [sys.executable, "-m", "stack.embedded.spark_server"]
    with (directory / "spark.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=environ, stdout=log, stderr=log)
    try:
        _wait_until_reachable(config, process)
        with open_session(config) as spark:
            yield spark, psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait()


def _wait_until_reachable(config: SparkConfig, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _START_TIMEOUT_S
    while True:
        try:
            return check_reachable(remote_url(config))
        except SparkStarting as error:
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("the Spark server did not start") from error
            time.sleep(0.2)
