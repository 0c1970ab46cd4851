"""configs with --zookeeper, where a broker that runs lets nobody in."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.brokerd import Brokerd, BrokerdCluster
from tests.support.brokerd_tools import brokerd
from tests.support.waiting import wait_until
from tests.support.zookeeper import ZooKeeper

CHROOT = "/silent"
API_VERSIONS = bytes.fromhex("0000000a 0012 0000 00000001 0000")  # size, API, version, id, client


@pytest.fixture(scope="module")
def broker(zookeeper: ZooKeeper, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Brokerd]:
    directory: Path = tmp_path_factory.mktemp("silent")
    with BrokerdCluster.started(directory, zookeeper.connect(CHROOT)) as cluster:
        yield cluster.brokers[0]


@pytest.mark.parametrize("whose", [("--broker", "1"), ("--broker-defaults",)])
@pytest.mark.parametrize(
    ("setting", "value"),
    [("max.connections.per.ip.overrides", "127.0.0.1:0"), ("max.connections", "1")],
)
def test_a_setting_that_shuts_everybody_out_is_dropped_in_zookeeper(
    broker: Brokerd, zookeeper: ZooKeeper, whose: tuple[str, ...], setting: str, value: str
) -> None:
    at = ("configs", "--bootstrap-server", broker.address)
    older = ("configs", "--zookeeper", zookeeper.connect(CHROOT))
    brokerd(*at, "--alter", *whose, "--add-config", f"{setting}={value}").ok()
    host, _, port = broker.address.rpartition(":")
    with socket.create_connection((host, int(port))) as only:  # the only one that may be
        if setting == "max.connections":
            only.sendall(API_VERSIONS)  # one that never sent a request would give way
            assert only.recv(4)
        said = brokerd(*older, "--describe", *whose)
        assert f"{setting}={value} " in said.out
        assert "No broker could be asked: " in said.err
        said = brokerd(*older, "--alter", *whose, "--delete-config", setting)
        assert said.code == 0, said.err
        # The broker that runs is told, so that it lets others in again.
        wait_until(lambda: brokerd(*at, "--describe", *whose).code == 0)
    assert setting not in brokerd(*at, "--describe", *whose).ok().out
