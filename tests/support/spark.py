"""A real Spark Connect server for the tests: ours, started once by its own launcher.

def test_x(spark): …            # a session
def test_y(spark_server): …     # the SparkConfig, for what opens sessions itself
"""

import dataclasses
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from monitoring.spark.server_config import SparkConfig, from_settings
from monitoring.spark.session import SparkStarting, check_reachable, open_session, remote_url
from tests.support.ports import free_port

REPOSITORY = Path(__file__).resolve().parents[2]
_DEADLINE_S = 180
# The product's launcher, with a Java that compiles once: what its second compiler gains comes too
# late for tests and costs a third of their time.
_LAUNCHER = """
from stack.embedded import spark_server
told, key = spark_server.properties, "spark.driver.extraJavaOptions"
def properties(*arguments):
    values, once = told(*arguments), "-XX:TieredStopAtLevel=1"
    return values | {key: f"{once} {values[key]}", "spark.executor.extraJavaOptions": once}
spark_server.properties = properties
spark_server.main()
"""


class SparkServer:
    """A Connect server process on a free port; its home is the folder `spark` of a data folder."""

    def __init__(self, config: SparkConfig) -> None:
        self.config = config
        self.log = config.home / "server.log"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.config.home.mkdir(parents=True, exist_ok=True)
        environ = os.environ | {
            "DJANGO_SETTINGS_MODULE": "console.settings",
            "AERIE_DATA": str(self.config.home.parent),
            "SPARK_CONNECT_PORT": str(self.config.port),
            "SPARK_MASTER": self.config.master,
            "AERIE_ADMIN_PASSWORD": "must-not-be-passed-on",
        }
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-c", _LAUNCHER],
                cwd=REPOSITORY,
                env=environ,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def wait_until_ready(self) -> None:
        assert self.process is not None
        deadline = time.monotonic() + _DEADLINE_S
        while True:
            try:
                return check_reachable(remote_url(self.config))
            except SparkStarting:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise AssertionError(self.log.read_text()) from None
                time.sleep(0.1)

    def stop(self) -> None:
        if self.process is None:
            return
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@pytest.fixture(scope="session")
def spark_process() -> Iterator[SparkServer]:
    server = SparkServer(dataclasses.replace(from_settings(), port=free_port()))
    server.start()
    try:
        server.wait_until_ready()
        yield server
    finally:
        server.stop()


@pytest.fixture
def spark_server(spark_process: SparkServer, settings: object) -> SparkConfig:
    """The server of the whole run; the settings name it for the length of the test."""
    settings.SPARK_CONNECT_PORT = spark_process.config.port  # type: ignore[attr-defined]
    return spark_process.config


@pytest.fixture(scope="session")
def spark(spark_process: SparkServer) -> Iterator[SparkSession]:
    with open_session(spark_process.config) as session:
        yield session
