"""A standalone Spark cluster for tests: a master and two workers of one core each, on 127.0.0.1.

Spark's processes require a secret from each other, as docs/operating.md tells operators.
"""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark

from stack.embedded.spark_server import environment
from stack.embedded.system_java import find_java_home
from tests.support.ports import free_port

SECRET = "of the cluster"
WORKERS = 2
_DEADLINE_S = 120


@contextmanager
def standalone_master(folder: Path) -> Iterator[str]:
    """The URL of a master with WORKERS workers that have registered."""
    folder.mkdir(parents=True)
    (folder / "conf").mkdir()
    (folder / "spark.conf").write_text(
        f"spark.authenticate true\nspark.authenticate.secret {SECRET}\n"
        "spark.master.rest.enabled false\n"  # it listens on a port of its own
    )
    url = f"spark://127.0.0.1:{free_port()}"
    port, log = url.rpartition(":")[2], folder / "master.log"
    processes = [_start(folder, "master", "master.Master", "--port", port)]
    try:
        for number in range(WORKERS):  # they try again until the master answers
            own = ["--work-dir", str(folder / f"work-{number}"), "--cores", "1", "--memory", "1g"]
            processes.append(_start(folder, f"worker-{number}", "worker.Worker", *own, url))
        _wait_until_registered(processes, log)
        yield url
    finally:
        for process in reversed(processes):
            process.terminate()
        for process in processes:
            process.wait(30)


def _start(folder: Path, name: str, kind: str, *options: str) -> subprocess.Popen[bytes]:
    package = Path(pyspark.__file__).parent
    environ = environment(os.environ, find_java_home(os.environ)) | {
        "SPARK_CONF_DIR": str(folder / "conf"),  # Spark's own logging
        "SPARK_DAEMON_MEMORY": "128m",
        "SPARK_DAEMON_JAVA_OPTS": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    }
    command = [str(package / "bin" / "spark-class"), f"org.apache.spark.deploy.{kind}"]
    command += ["--host", "127.0.0.1", "--webui-port", "0"]
    command += ["--properties-file", str(folder / "spark.conf"), *options]
    with (folder / f"{name}.log").open("wb") as log:
        return subprocess.Popen(command, env=environ, stdout=log, stderr=subprocess.STDOUT)


def workers_with_tasks(folder: Path) -> int:
    """How many workers ran tasks, by the logs of their executors."""
    logs = [list(folder.glob(f"work-{number}/*/*/stderr")) for number in range(WORKERS)]
    return sum(any("Running task" in log.read_text() for log in own) for own in logs)


def _wait_until_registered(processes: list[subprocess.Popen[bytes]], log: Path) -> None:
    deadline = time.monotonic() + _DEADLINE_S
    while (written := log.read_text()).count("Registering worker") < WORKERS:
        assert all(process.poll() is None for process in processes), written
        assert time.monotonic() < deadline, written
        time.sleep(0.1)
