"""A worker and Spark that are killed in the middle of an hour: the levels end as if nothing was.

`bench/pipeline_kills.py` does it at many random moments.
"""

import dataclasses
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from monitoring.history import append_ticks
from monitoring.history.root_folder import cluster_folder, current
from monitoring.pipeline.workspace import JOBS
from monitoring.spark.server_config import from_settings
from tests.monitoring.pipeline.do_all import do_all
from tests.monitoring.pipeline.made_history import rows_of_levels, ticks, write
from tests.support.ports import free_port
from tests.support.spark import SparkServer

pytestmark = pytest.mark.spark
REPOSITORY = Path(__file__).resolve().parents[3]
_DEADLINE_S = 600


@pytest.fixture
def own_spark(tmp_path):
    """A Spark of the test's own, which may be killed. It empties its home when it starts."""
    home = tmp_path / "data" / "spark"
    server = SparkServer(dataclasses.replace(from_settings(), home=home, port=free_port()))
    server.start()
    try:
        server.wait_until_ready()
        yield server
    finally:
        server.stop()


def worker(settings, spark):
    """A process that does all jobs that wait."""
    environ = os.environ | {
        "DJANGO_SETTINGS_MODULE": "console.settings",
        "HISTORY_URL": settings.HISTORY_URL,
        "AERIE_DATA": str(spark.home.parent),
        "SPARK_CONNECT_PORT": str(spark.port),
    }
    command = [sys.executable, "-m", "tests.monitoring.pipeline.do_all"]
    return subprocess.Popen(command, cwd=REPOSITORY, env=environ, stderr=subprocess.DEVNULL)


def wait_for_tables(root, running, count):
    """Until the job that runs has begun to write so many tables, or has ended."""
    deadline = time.monotonic() + _DEADLINE_S
    while running.poll() is None:
        jobs = root.entries(cluster_folder("local"), JOBS)
        newest = max(jobs, key=lambda entry: entry.mtime, default=None)
        if newest and len(root.entries(cluster_folder("local"), JOBS, newest.base_name)) >= count:
            return
        assert time.monotonic() < deadline
        time.sleep(0.02)


def kill_family(process):
    """kill -9 of the process and of what it started."""
    found = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True)
    for number in [*map(int, found.stdout.split()), process.pid]:
        os.kill(number, signal.SIGKILL)
    process.wait()


def test_what_is_killed_counts_nothing_twice_and_loses_nothing(root, settings, spark, own_spark):
    """A worker dies, then Spark: one of their own, where what it has begun goes on."""
    write(root, ticks(7, hours=1))
    running = worker(settings, own_spark.config)
    wait_for_tables(root, running, 9)
    running.kill()
    running.wait()
    seen = [rows_of_levels(root)]
    running = worker(settings, own_spark.config)
    wait_for_tables(root, running, 3)
    kill_family(own_spark.process)
    running.wait(_DEADLINE_S)
    seen.append(rows_of_levels(root))
    own_spark.start()
    own_spark.wait_until_ready()
    assert worker(settings, own_spark.config).wait(_DEADLINE_S) == 0
    found = rows_of_levels(root)

    settings.HISTORY_URL += "-undisturbed"
    append_ticks._changes_by_cluster.clear()
    write(current(), ticks(7, hours=1))
    do_all(spark)
    assert found == rows_of_levels(current())
    for rows in seen:  # readable at each moment: rows of the result, or none yet
        assert all(set(rows[name]) <= set(found[name]) for name in found)
