import os
import socket
import stat
import struct
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from pyspark.sql import SparkSession

from monitoring.spark.server_config import SparkConfig, token
from stack.embedded.spark_server import driver_address, environment, prepare, properties
from tests.support.spark import REPOSITORY, SparkServer


def test_the_token_is_made_once_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "spark" / "connect.token"
    first = token(path)
    assert len(first) >= 32
    assert token(path) == first
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(path.parent) == ["connect.token"]


def test_spark_gets_no_secret_in_its_environment(tmp_path: Path) -> None:
    ours = {"PATH": "/bin", "AERIE_ADMIN_PASSWORD": "x", "DATABASE_URL": "y", "REDIS_URL": "z"}
    assert set(environment(ours, tmp_path)) & set(ours) == {"PATH"}


def test_the_server_listens_on_this_machine_only(tmp_path: Path) -> None:
    values = properties(SparkConfig(home=tmp_path, port=15002), "secret")
    assert values["spark.connect.grpc.binding.address"] == "127.0.0.1"
    assert values["spark.driver.bindAddress"] == "127.0.0.1"
    assert values["spark.ui.enabled"] == "false"


def test_the_token_is_in_a_private_file_and_in_no_argument(tmp_path: Path) -> None:
    config = SparkConfig(home=tmp_path / "spark", port=15002)
    command = prepare(config)
    secret = token(config.token_file)
    file = Path(command[command.index("--properties-file") + 1])
    assert secret in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert not any(secret in argument for argument in command)


def test_the_operators_own_settings_come_last(tmp_path: Path) -> None:
    config = SparkConfig(home=tmp_path, port=15002)
    config.settings_file.write_text("spark.driver.memory 2g\n")
    command = prepare(config)
    lines = Path(command[command.index("--properties-file") + 1]).read_text().splitlines()
    assert lines[-1] == "spark.driver.memory 2g"
    assert "spark.driver.memory 768m" in lines


@pytest.mark.parametrize("master", ["local", "local[2]", "local[*]", "local[2, 3]"])
def test_a_local_master_makes_a_secret_of_its_own(tmp_path: Path, master: str) -> None:
    values = properties(SparkConfig(home=tmp_path, port=1, master=master), "token")
    assert values["spark.authenticate"] == "true"
    assert "spark.authenticate.secret" not in values


def test_the_secret_of_a_cluster_is_taken_from_its_file(tmp_path: Path) -> None:
    config = SparkConfig(home=tmp_path, port=1, master="spark://127.0.0.1:7077")
    assert "spark.authenticate" not in properties(config, "token")
    config.cluster_secret_file.write_text("of the cluster\n")
    assert properties(config, "token")["spark.authenticate.secret"] == "of the cluster"


def test_executors_of_a_cluster_reach_the_driver_from_their_side() -> None:
    assert driver_address("local[2]") == "127.0.0.1"
    assert driver_address("spark://127.0.0.1:7077,127.0.0.9:7077") == "127.0.0.1"
    with pytest.raises(LookupError, match="cannot be reached"):
        driver_address("spark://no-such-host.invalid:7077")


def rpc_answer(port: int) -> bytes:
    """The answer of one of Spark's internal ports to an RpcRequest (type 3) without credentials."""
    body = b"no java object"
    call = struct.pack(">bqi", 3, 7, len(body)) + body
    with socket.create_connection(("127.0.0.1", port), 30) as connection:
        connection.sendall(struct.pack(">q", 8 + len(call)) + call)
        answer = connection.recv(8)
        size = struct.unpack(">q", answer)[0]
        while len(answer) < size and (part := connection.recv(65_536)):
            answer += part
    return answer


@pytest.mark.spark
def test_sparks_internal_ports_refuse_clients_without_the_secret(
    spark_process: SparkServer,
) -> None:
    assert spark_process.process is not None
    found = psutil.Process(spark_process.process.pid).net_connections("tcp")
    listening = {each.laddr.port for each in found if each.status == psutil.CONN_LISTEN}
    ports = listening - {spark_process.config.port}
    assert len(ports) == 2  # the driver's RPC and the blocks
    for port in ports:
        assert b"Expected SaslMessage, received something else" in rpc_answer(port)


@pytest.mark.spark
def test_clients_without_the_secret_cannot_fill_sparks_memory(
    spark_process: SparkServer, spark: SparkSession
) -> None:
    assert spark_process.process is not None
    found = psutil.Process(spark_process.process.pid).net_connections("tcp")
    listening = {each.laddr.port for each in found if each.status == psutil.CONN_LISTEN}
    part = bytes(400 << 20)
    for port in listening - {spark_process.config.port}:
        with socket.create_connection(("127.0.0.1", port), 120) as connection:
            connection.sendall(struct.pack(">q", (1 << 31) - 2))
            with pytest.raises(ConnectionError):  # at 700 MiB if the limit were the heap
                connection.sendall(part)
    assert spark.range(3).count() == 3


def test_the_error_for_a_port_in_use_has_its_number() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = subprocess.run(
            [sys.executable, "-m", "stack.embedded.spark_server"],
            cwd=REPOSITORY,
            env=os.environ
            | {"SPARK_CONNECT_PORT": str(port), "DJANGO_SETTINGS_MODULE": "console.settings"},
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert done.returncode == 1
    assert f"port {port} (SPARK_CONNECT_PORT) cannot be used" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.spark
def test_the_running_server_has_no_secret_in_its_environment(spark_process: SparkServer) -> None:
    process = spark_process.process
    assert process is not None
    proc = Path(f"/proc/{process.pid}")
    if not proc.is_dir():
        pytest.skip("this system has no /proc")
    # The launcher executes Java under the same process id, so the supervisor's signals reach it.
    assert proc.joinpath("cmdline").read_bytes().split(b"\0")[0].endswith(b"java")
    seen = proc.joinpath("environ").read_bytes()
    assert b"must-not-be-passed-on" not in seen
    assert b"REDIS_URL" not in seen
    assert b"AERIE" not in seen
