"""ZooKeeper restarted and away under load: records flow on, nothing acknowledged is lost."""

from pathlib import Path

from confluent_kafka.admin import AdminClient, NewTopic

from tests.crash.load import Load, missing, read_back, repeated
from tests.support.brokerd import BrokerdCluster
from tests.support.group_members import ConfluentMember
from tests.support.waiting import wait_until
from tests.support.zookeeper import ZooKeeper

TOPIC = "numbers"


def test_a_restart_of_zookeeper_under_load_loses_nothing(tmp_path: Path) -> None:
    with (
        ZooKeeper.started(tmp_path / "zookeeper") as zookeeper,
        BrokerdCluster.started(
            tmp_path / "brokers", zookeeper.connect("/crash"), brokers=2
        ) as cluster,
    ):
        bootstrap = cluster.bootstrap_servers
        admin = AdminClient({"bootstrap.servers": bootstrap})
        admin.create_topics([NewTopic(TOPIC, 4, 1)])[TOPIC].result(30)
        with (
            Load(bootstrap, TOPIC, **{"enable.idempotence": True}) as load,
            ConfluentMember(bootstrap, "readers", TOPIC) as member,
        ):
            member.got(1)
            zookeeper.kill()
            load.wait_for(2_000)
            zookeeper.start()
            load.wait_for(2_000)
            load.finish()
            member.got(load.sent)
        assert all(broker.process and broker.process.poll() is None for broker in cluster.brokers)
        found = read_back(bootstrap, TOPIC)
        assert missing(load, found) == {}
        assert repeated(found) == []
        wait_until(lambda: topic_can_be_created(admin), "topics can be created again")


def topic_can_be_created(admin: AdminClient) -> bool:
    try:
        admin.create_topics([NewTopic("later", 1, 1)], request_timeout=5)["later"].result(10)
    except Exception:
        return False
    return True
