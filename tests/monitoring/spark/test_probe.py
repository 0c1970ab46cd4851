"""The probe and a real Spark: answering, frozen, with another token, and away."""

import dataclasses
import socket
import uuid
from pathlib import Path

import pytest
from pyspark.sql.connect.proto import base_pb2

from monitoring.spark.probe import SparkProbe, SparkState, config_request, missing_address, probe
from monitoring.spark.server_config import SparkConfig
from tests.support.ports import free_port
from tests.support.processes import hung
from tests.support.waiting import wait_until

SESSION = str(uuid.uuid4())


def test_the_request_is_what_pyspark_would_send() -> None:
    wanted = base_pb2.ConfigRequest(session_id=SESSION)
    wanted.user_context.user_id = "aerie"
    wanted.operation.get.keys.append("spark.sql.session.timeZone")
    assert base_pb2.ConfigRequest.FromString(config_request(SESSION)) == wanted


def test_a_server_that_does_not_listen_is_absent(settings) -> None:
    settings.SPARK_CONNECT_PORT = free_port()
    assert SparkProbe().latest(wait_s=60).state is SparkState.ABSENT


def test_a_master_that_cannot_be_reached_is_told_from_a_server_that_starts(settings) -> None:
    settings.SPARK_CONNECT_PORT = free_port()
    settings.SPARK_MASTER = f"spark://127.0.0.1:{free_port()},localhost:{free_port()}"
    assert SparkProbe().latest(wait_s=60).state is SparkState.NO_MASTER
    with socket.create_server(("127.0.0.1", 0)) as master:
        settings.SPARK_MASTER += f",127.0.0.1:{master.getsockname()[1]}"
        assert SparkProbe().latest(wait_s=60).state is SparkState.ABSENT


@pytest.mark.parametrize(
    ("state", "remote", "address"),
    [
        (SparkState.NO_MASTER, "", "spark://10.1.0.5:7077"),
        (SparkState.ABSENT, "", "localhost:15003"),
        (SparkState.ABSENT, "sc://spark.example/;token=s3cret", "spark.example:15002"),
    ],
)
def test_the_address_that_is_missing_is_named_without_the_token(state, remote, address) -> None:
    config = SparkConfig(Path(), 15003, "spark://10.1.0.5:7077", remote)
    assert missing_address(config, state) == address


@pytest.mark.spark
def test_a_frozen_spark_is_detected(spark_process, spark_server) -> None:
    assert probe(spark_server, SESSION, deadline_s=60) is SparkState.OK
    with hung(spark_process.process):
        assert probe(spark_server, SESSION, deadline_s=1) is SparkState.FROZEN
    assert probe(spark_server, SESSION, deadline_s=60) is SparkState.OK


@pytest.mark.spark
def test_the_probe_notices_that_spark_froze_and_that_it_answers_again(
    spark_process, spark_server, monkeypatch
) -> None:
    monkeypatch.setattr("monitoring.spark.probe.REFRESH_AFTER_S", 0.1)
    spark_probe = SparkProbe()
    assert spark_probe.latest(wait_s=60).state is SparkState.OK
    with hung(spark_process.process):
        wait_until(lambda: spark_probe.latest().state is SparkState.FROZEN, "it is frozen", 120)
    wait_until(lambda: spark_probe.latest().state is SparkState.OK, "it answers", 120)


@pytest.mark.spark
def test_a_wrong_token_is_detected(spark_server, tmp_path: Path) -> None:
    other = dataclasses.replace(spark_server, home=tmp_path)
    assert probe(other, SESSION, deadline_s=60) is SparkState.REFUSED
