"""A broker that is stopped cleanly: everything is there, and nothing had to be recovered."""

from pathlib import Path

import httpx
from confluent_kafka.admin import AdminClient, NewTopic

from tests.crash.load import Load, missing, read_back
from tests.support.brokerd import BrokerdCluster
from tests.support.zookeeper import ZooKeeper


def test_a_clean_restart_keeps_everything(zookeeper: ZooKeeper, tmp_path: Path) -> None:
    settings = {"log.segment.bytes": "65536"}
    connect = zookeeper.connect("/crash-stopped")
    with BrokerdCluster.started(tmp_path, connect, settings=settings) as cluster:
        (broker,) = cluster.brokers
        admin = AdminClient({"bootstrap.servers": broker.address})
        admin.create_topics([NewTopic("kept", 4, 1)])["kept"].result(30)
        with Load(broker.address, "kept", **{"compression.type": "lz4"}) as load:
            load.wait_for(2_000)
            load.finish()
        before = read_back(broker.address, "kept")
        assert missing(load, before) == {}
        broker.stop()
        broker.start()
        assert read_back(broker.address, "kept") == before
        token = (broker.directory / "admin.token").read_text().strip()
        headers = {"Authorization": f"Bearer {token}"}
        events = httpx.get(f"{broker.admin_url}/v1/events", headers=headers).json()["events"]
        assert "recovery" not in {event["type"] for event in events}
