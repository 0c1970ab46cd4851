"""`brokerd start`: readiness, mistakes, listeners, shutdown, and the background."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from brokerd.protocol.api_keys import ApiKey
from tests.support.brokerd import Brokerd, BrokerdCluster
from tests.support.ports import free_port
from tests.support.waiting import wait_until
from tests.support.wire import Wire
from tests.support.zookeeper import ZooKeeper

ROOT = Path(__file__).parent.parent.parent
TIMEOUT_S = 60


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "brokerd", *arguments],
        cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT_S, check=False,
    )  # fmt: skip


def properties(directory: Path, zookeeper_connect: str, *more: str) -> str:
    """The path of a file for a broker on any free ports; of a key given twice the last counts."""
    path = directory / "server.properties"
    lines = (
        "broker.id=1", "listeners=PLAINTEXT://127.0.0.1:0", f"log.dirs={directory}/logs",
        f"zookeeper.connect={zookeeper_connect}", "brokerd.admin.port=0", *more,
    )  # fmt: skip
    path.write_text("".join(f"{line}\n" for line in lines))
    return str(path)


def test_every_bad_value_is_reported_and_nothing_starts(tmp_path: Path) -> None:
    path = tmp_path / "server.properties"
    path.write_text("broker.id=one\nnum.partitions=0\nlog.dirs=/nowhere\n")
    done = run("start", str(path), "--override", "log.retention.ms=soon")
    assert done.returncode == 1
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 4
    for key in ("broker.id", "num.partitions", "zookeeper.connect", "log.retention.ms"):
        assert f"brokerd: {key}: " in done.stderr


def test_every_store_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    stores = [tmp_path / f"{name}.pem" for name in ("missing", "empty")]
    stores[1].touch()
    lines = ["listeners=A://127.0.0.1:0,B://127.0.0.1:1",
             "listener.security.protocol.map=A:SSL,B:SSL", "inter.broker.listener.name=A",
             "ssl.keystore.type=PEM"]  # fmt: skip
    lines += [
        f"listener.name.{name}.ssl.keystore.location={store}"
        for name, store in zip("ab", stores, strict=True)
    ]
    done = run("start", properties(tmp_path, "127.0.0.1:1", *lines))
    assert done.returncode == 1
    told = done.stderr.splitlines()
    assert len(told) == 2, done.stderr
    for name, store, what in zip("ab", stores, ("No such file", "is not PEM"), strict=True):
        key = f"listener.name.{name}.ssl.keystore.location"
        (line,) = [each for each in told if key in each]
        assert str(store) in line
        assert what in line


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    done = run("start", str(tmp_path / "missing.properties"))
    assert done.returncode == 1
    assert "missing.properties" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_port_in_use_and_locked_directories_are_named(broker: Brokerd, tmp_path: Path) -> None:
    taken = run("start", str(broker.properties), "--override", f"log.dirs={tmp_path}")
    assert taken.returncode == 1
    assert f"127.0.0.1:{broker.port}" in taken.stderr
    locked = run(
        "start", str(broker.properties),
        "--override", "listeners=PLAINTEXT://127.0.0.1:0", "--override", "brokerd.admin.port=0",
    )  # fmt: skip
    assert locked.returncode == 1
    assert str(broker.logs) in locked.stderr
    assert "Traceback" not in taken.stderr + locked.stderr


@pytest.mark.parametrize("host", ["no-such-host.invalid:2181", "127.0.0.1:1"])
def test_a_zookeeper_that_does_not_answer_ends_the_start_with_one_line(
    tmp_path: Path, host: str
) -> None:
    left = {"recovery-point-offset-checkpoint": "0\n1\nt 0 7\n", ".kafka_cleanshutdown": ""}
    (tmp_path / "logs" / "t-0").mkdir(parents=True)
    for name, text in left.items():
        (tmp_path / "logs" / name).write_text(text)
    done = run("start", properties(tmp_path, host, "zookeeper.connection.timeout.ms=500"))
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert {name: (tmp_path / "logs" / name).read_text() for name in left} == left
    (last,) = [line for line in done.stderr.splitlines() if line.startswith("brokerd: ")]
    assert f"no ZooKeeper answers at {host} within 500 ms" in last
    assert ("the name no-such-host.invalid is not known" in last) == ("invalid" in host)


def test_unknown_settings_warn_and_the_broker_starts(zookeeper: ZooKeeper, tmp_path: Path) -> None:
    settings = {"num.network.threads": "3", "num.networks": "3"}
    with BrokerdCluster.started(tmp_path, zookeeper.connect("/warn"), settings=settings) as cluster:
        said = cluster.brokers[0].said()
        assert "the setting num.network.threads of Kafka has no effect here" in said
        assert "unknown setting num.networks is ignored" in said
        cluster.brokers[0].stop()


def test_the_readiness_line_names_listeners_and_the_admin_port(broker: Brokerd) -> None:
    line = next(line for line in broker.said().splitlines() if " is ready: " in line)
    assert line == (f"brokerd 1 is ready: PLAINTEXT://{broker.address}, admin {broker.admin_url}")
    assert httpx.get(f"{broker.admin_url}/readyz").status_code == 200
    assert httpx.get(f"{broker.admin_url}/v1/broker").status_code == 401


def test_sigterm_ends_it_cleanly_and_quickly(zookeeper: ZooKeeper, tmp_path: Path) -> None:
    with BrokerdCluster.started(tmp_path, zookeeper.connect("/clean")) as cluster:
        broker = cluster.brokers[0]
        process = broker.process
        assert process is not None
        with httpx.Client() as client:  # an admin connection that is kept open hinders nothing
            assert client.get(f"{broker.admin_url}/readyz").status_code == 200
            broker.stop()
        assert process.returncode == 0
        assert (broker.logs / ".kafka_cleanshutdown").exists()
        assert "Traceback" not in broker.said()
        assert not [line for line in broker.said().splitlines() if " ERROR " in line]


def test_a_file_that_is_not_utf8_is_named_with_the_line(tmp_path: Path) -> None:
    path = tmp_path / "server.properties"
    path.write_bytes("broker.id=1\n# Größe\n".encode("latin-1"))
    done = run("start", str(path))
    assert done.returncode == 1
    assert done.stderr == f"brokerd: cannot read {path}: line 2 is not UTF-8\n"


def test_a_chroot_of_two_levels_is_made(zookeeper: ZooKeeper, tmp_path: Path) -> None:
    with BrokerdCluster.started(tmp_path, zookeeper.connect("/two/levels")) as cluster:
        with Wire(cluster.brokers[0].port) as wire:
            assert wire.ask(ApiKey.METADATA, 5, {"topics": []}).brokers[0].node_id == 1


def test_a_port_that_is_taken_is_named_by_its_setting(
    zookeeper: ZooKeeper, tmp_path: Path, broker: Brokerd
) -> None:
    taken = f"brokerd.admin.port={broker.admin_port}"
    done = run("start", properties(tmp_path, zookeeper.connect("/taken"), taken))
    assert done.returncode == 1
    assert taken in done.stderr
    assert "Traceback" not in done.stderr


def test_each_listener_tells_its_own_endpoint(zookeeper: ZooKeeper, tmp_path: Path) -> None:
    inside, outside = free_port(), free_port()
    settings = {
        "listeners": f"INSIDE://127.0.0.1:{inside},OUTSIDE://0.0.0.0:{outside}",
        "advertised.listeners": f"INSIDE://127.0.0.1:{inside},OUTSIDE://broker.example:19093",
        "listener.security.protocol.map": "INSIDE:PLAINTEXT,OUTSIDE:PLAINTEXT",
        "inter.broker.listener.name": "INSIDE",
    }
    with BrokerdCluster.started(tmp_path, zookeeper.connect("/named"), settings=settings):
        for port, told in ((inside, ("127.0.0.1", inside)), (outside, ("broker.example", 19093))):
            with Wire(port) as wire:
                answer = wire.ask(ApiKey.METADATA, 5, {"topics": []})
                assert [(each.host, each.port) for each in answer.brokers] == [told]
                coordinator = wire.ask(ApiKey.FIND_COORDINATOR, 1, {"key": "g", "key_type": 0})
                assert (coordinator.host, coordinator.port) == told


def test_daemon_returns_once_the_broker_is_ready_and_sighup_is_a_clean_end(
    zookeeper: ZooKeeper, tmp_path: Path
) -> None:
    done = run("start", properties(tmp_path, zookeeper.connect("/daemon")), "-daemon")
    match = re.search(r"is ready: PLAINTEXT://127.0.0.1:(\d+).*\(pid (\d+)", done.stdout)
    assert match is not None, done.stdout + done.stderr
    pid = int(match.group(2))
    try:
        with Wire(int(match.group(1))) as wire:
            assert wire.ask(ApiKey.API_VERSIONS, 0, {}).error_code == 0
    finally:
        os.kill(pid, signal.SIGHUP)
        deadline = time.monotonic() + TIMEOUT_S
        while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
            if "State:\tZ" in Path(f"/proc/{pid}/status").read_text():
                break
            time.sleep(0.02)
    assert (tmp_path / "logs" / ".kafka_cleanshutdown").exists()


def waiting_at(port: int) -> Wire | None:
    """A connection that waits on the listener until the broker takes it."""
    try:
        return Wire(port)
    except ConnectionRefusedError:
        return None


def test_the_first_answer_of_a_broker_tells_the_epochs_that_hold(
    zookeeper: ZooKeeper, tmp_path: Path
) -> None:
    with BrokerdCluster.started(tmp_path, zookeeper.connect("/epochs")) as cluster:
        (broker,) = cluster.brokers
        with Wire(broker.port) as wire:
            topic = {"name": "t", "num_partitions": 500, "replication_factor": 1}
            wire.ask(ApiKey.CREATE_TOPICS, 5, {"topics": [topic], "timeout": 20_000})
        for end, epoch in ((broker.kill, 1), (broker.stop, 1), (broker.kill, 2)):
            end()
            broker.launch()
            with wait_until(lambda: waiting_at(broker.port), "it listens") as wire:
                asked = {"topics": [{"name": "t"}]}
                told = wire.ask(ApiKey.METADATA, 8, asked).topics[0].partitions
            assert {each.leader_epoch for each in told} == {epoch}, "a clean stop changes none"
            broker.wait_until_ready()
